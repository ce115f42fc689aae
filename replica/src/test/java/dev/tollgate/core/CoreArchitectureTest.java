package dev.tollgate.core;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The core is a function of the log: it cannot even name a clock, a thread or a random source. */
class CoreArchitectureTest {
  private static final ArchRule PLAIN_JAVA =
      classes()
          .that()
          .resideInAPackage("dev.tollgate.core..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "java.lang..",
              "java.util",
              "java.util.function",
              "dev.tollgate.core..",
              "org.jspecify..");

  /** All of java.lang and java.util that differs from run to run or from replica to replica. */
  private static final ArchRule NOTHING_LOCAL =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.core..")
          .should()
          .dependOnClassesThat()
          .haveNameMatching(
              "java\\.lang\\.(System|Thread|ThreadLocal|Runtime|Process.*|ClassLoader|ref\\..*"
                  + "|reflect\\..*)"
                  + "|java\\.util\\.(HashMap|HashSet|IdentityHashMap|WeakHashMap|Hashtable"
                  + "|Random|SplittableRandom|UUID|Date|Calendar|Timer|Locale|TimeZone|Scanner"
                  + "|Properties|ServiceLoader)")
          .orShould()
          .callMethod(Object.class, "hashCode")
          .orShould()
          .callMethod(System.class, "identityHashCode", Object.class);

  private static final JavaClasses CORE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.tollgate.core");

  @Test
  void coreDependsOnJavaLangAndJavaUtilAlone() {
    PLAIN_JAVA.check(CORE);
  }

  @Test
  void coreUsesNothingThatDiffersBetweenReplicas() {
    NOTHING_LOCAL.check(CORE);
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        UsesClock.class,
        UsesRandom.class,
        UsesHashOrder.class,
        UsesThread.class,
        UsesDate.class
      })
  void rulesCatchWhatIsForbidden(Class<?> offender) {
    JavaClasses one = new ClassFileImporter().importClasses(offender);
    assertThrows(AssertionError.class, () -> NOTHING_LOCAL.check(one));
  }

  @Test
  void rulesCatchALogger() {
    JavaClasses one = new ClassFileImporter().importClasses(UsesLogger.class);
    assertThrows(AssertionError.class, () -> PLAIN_JAVA.check(one));
  }

  static final class UsesClock {
    long now() {
      return System.nanoTime();
    }
  }

  static final class UsesRandom {
    int any() {
      return new Random(1).nextInt();
    }
  }

  static final class UsesHashOrder {
    final Map<String, String> map = new HashMap<>();
  }

  static final class UsesThread {
    void pause() {
      Thread.onSpinWait();
    }
  }

  static final class UsesDate {
    @SuppressWarnings("JavaUtilDate")
    final Date date = new Date();
  }

  static final class UsesLogger {
    final Logger logger = Logger.getGlobal();
  }
}
