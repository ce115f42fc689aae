package dev.tollgate.flyway;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Test;

/** The module stands on Flyway and on the migrations. */
class FlywayArchitectureTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.tollgate.flyway");

  @Test
  void flywayAndMigrationsAreAllThatIsUsed() {
    only(
            "java..",
            "javax.sql..",
            "dev.tollgate.flyway..",
            "dev.tollgate.migrations..",
            "org.flywaydb..",
            "org.jspecify..")
        .check(MAIN);
    ArchRule withoutFlyway = only("java..", "dev.tollgate..");
    assertThrows(AssertionError.class, () -> withoutFlyway.check(MAIN));
  }

  private static ArchRule only(String... packages) {
    return classes().should().onlyDependOnClassesThat().resideInAnyPackage(packages);
  }
}
