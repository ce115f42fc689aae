package dev.tollgate.migrations;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Test;

/** The module stands on JDBC, the lock API and the driver's connection alone. */
class MigrationsArchitectureTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.tollgate.migrations");

  @Test
  void jdbcAndTheLockApiAreAllThatIsUsed() {
    only(
            "java..",
            "dev.tollgate.migrations..",
            "dev.tollgate.lock..",
            "dev.tollgate.jdbc..",
            "org.jspecify..")
        .check(MAIN);
    ArchRule withoutJdbc = only("java.lang..", "dev.tollgate.migrations..");
    assertThrows(AssertionError.class, () -> withoutJdbc.check(MAIN));
  }

  private static ArchRule only(String... packages) {
    return classes().should().onlyDependOnClassesThat().resideInAnyPackage(packages);
  }
}
