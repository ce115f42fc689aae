package dev.tollgate.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Test;

/** The module stands on Spring and the lock API. */
class SpringArchitectureTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.tollgate.spring");

  @Test
  void springAndTheLockApiAreAllThatIsUsed() {
    only(
            "java..",
            "javax.sql..",
            "dev.tollgate.spring..",
            "dev.tollgate.lock..",
            "dev.tollgate.jdbc..",
            "org.springframework..",
            "org.jspecify..")
        .check(MAIN);
    ArchRule withoutSpring = only("java..", "dev.tollgate..");
    assertThrows(AssertionError.class, () -> withoutSpring.check(MAIN));
  }

  @Test
  void registriesKnowNothingOfBoot() {
    noClasses()
        .that()
        .resideInAPackage("dev.tollgate.spring")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("dev.tollgate.spring.boot..", "org.springframework.boot..")
        .check(MAIN);
  }

  private static ArchRule only(String... packages) {
    return classes().should().onlyDependOnClassesThat().resideInAnyPackage(packages);
  }
}
