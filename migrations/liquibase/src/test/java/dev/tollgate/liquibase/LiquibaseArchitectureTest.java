package dev.tollgate.liquibase;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Test;

/** The module stands on Liquibase, JDBC and the migrations alone. */
class LiquibaseArchitectureTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.tollgate.liquibase");

  @Test
  void liquibaseAndMigrationsAreAllThatIsUsed() {
    only(
            "java..",
            "liquibase..",
            "dev.tollgate.liquibase..",
            "dev.tollgate.migrations..",
            "org.jspecify..")
        .check(MAIN);
    ArchRule withoutMigrations = only("java..", "liquibase..", "dev.tollgate.liquibase..");
    assertThrows(AssertionError.class, () -> withoutMigrations.check(MAIN));
  }

  private static ArchRule only(String... packages) {
    return classes().should().onlyDependOnClassesThat().resideInAnyPackage(packages);
  }
}
