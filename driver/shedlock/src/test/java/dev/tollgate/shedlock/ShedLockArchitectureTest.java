package dev.tollgate.shedlock;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Test;

/** The module stands on ShedLock and on the lock API alone. */
class ShedLockArchitectureTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.tollgate.shedlock");

  @Test
  void shedLockAndTheLockApiAreAllThatIsUsed() {
    only(
            "java..",
            "javax.sql..",
            "dev.tollgate.shedlock..",
            "dev.tollgate.lock..",
            "net.javacrumbs.shedlock..",
            "org.jspecify..")
        .check(MAIN);
    ArchRule withoutShedLock = only("java..", "dev.tollgate..");
    assertThrows(AssertionError.class, () -> withoutShedLock.check(MAIN));
  }

  private static ArchRule only(String... packages) {
    return classes().should().onlyDependOnClassesThat().resideInAnyPackage(packages);
  }
}
