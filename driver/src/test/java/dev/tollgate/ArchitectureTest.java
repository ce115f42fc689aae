package dev.tollgate;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.targetOwner;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import dev.tollgate.jdbc.wrong.KnowsLock;
import dev.tollgate.lock.wrong.GoesOwnWays;
import dev.tollgate.lock.wrong.KnowsValues;
import dev.tollgate.tls.wrong.KnowsWire;
import dev.tollgate.transport.wrong.SpeaksH2;
import dev.tollgate.wire.wrong.KnowsTransport;
import java.util.Timer;
import java.util.concurrent.Executors;
import org.h2.engine.wrong.SecondBridge;
import org.junit.jupiter.api.Test;

/**
 * wire &lt;- value &lt;- jdbc, wire and tls &lt;- transport &lt;- jdbc &lt;- lock, and H2 where
 * values are, not below and not above.
 */
class ArchitectureTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.tollgate", "org.h2.engine");

  /** Code of this module, as opposed to that of H2, which comes in a jar. */
  private static final DescribedPredicate<JavaClass> OURS =
      DescribedPredicate.describe(
          "ours",
          c ->
              c.getSource()
                  .map(source -> !source.getUri().toString().startsWith("jar:"))
                  .orElse(false));

  private static final DescribedPredicate<JavaClass> H2 = resideInAPackage("org.h2..");

  private static final ArchRule WIRE_STANDS_ALONE =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.wire..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                      "dev.tollgate.value..",
                      "dev.tollgate.transport..",
                      "dev.tollgate.jdbc..",
                      "dev.tollgate.lock..")
                  .or(H2));

  private static final ArchRule TLS_STANDS_ALONE =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.tls..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                      "dev.tollgate.wire..",
                      "dev.tollgate.value..",
                      "dev.tollgate.transport..",
                      "dev.tollgate.jdbc..",
                      "dev.tollgate.lock..")
                  .or(H2));

  private static final ArchRule TRANSPORT_KNOWS_WIRE_ONLY =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.transport..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                      "dev.tollgate.value..", "dev.tollgate.jdbc..", "dev.tollgate.lock..")
                  .or(H2));

  private static final ArchRule VALUE_KNOWS_WIRE_AND_H2 =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.value..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.tollgate.transport..", "dev.tollgate.jdbc..", "dev.tollgate.lock..");

  private static final ArchRule JDBC_DOES_NOT_KNOW_LOCK =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.jdbc..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.tollgate.lock..");

  /** Its public methods may be called on the classes of the published jar and on ours alike. */
  private static final ArchRule LOCK_USES_JDBC_AND_NO_VALUES =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.lock..")
          .should()
          .dependOnClassesThat(resideInAPackage("dev.tollgate.value..").or(H2));

  private static final ArchRule H2_IN_VALUE_JDBC_AND_BRIDGE =
      noClasses()
          .that(
              OURS.and(
                  DescribedPredicate.not(
                      resideInAnyPackage(
                          "dev.tollgate.value..", "dev.tollgate.jdbc..", "org.h2.."))))
          .should()
          .dependOnClassesThat(H2);

  private static final ArchRule ONE_CLASS_INSIDE_H2 =
      classes()
          .that(OURS)
          .and()
          .resideInAPackage("org.h2..")
          .should()
          .haveFullyQualifiedName("org.h2.engine.SessionBridge");

  private static final ArchRule NO_CYCLES =
      slices().matching("dev.tollgate.(*)..").should().beFreeOfCycles();

  private static final ArchRule ONLY_THE_JDK_H2_AND_ANNOTATIONS =
      noClasses()
          .that(OURS)
          .should()
          .dependOnClassesThat()
          .resideOutsideOfPackages(
              "java..",
              "javax.crypto..",
              "javax.naming..",
              "javax.net.ssl..",
              "javax.security.auth.x500..",
              "javax.sql..",
              "dev.tollgate..",
              "org.h2..",
              "org.jspecify..");

  /** {@code Thread.interrupt} may run code of the application, which nobody must wait for. */
  private static final ArchRule ONE_WAY_TO_INTERRUPT =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.lock..")
          .and()
          .doNotHaveFullyQualifiedName("dev.tollgate.lock.ThreadInterrupt")
          .should()
          .accessTargetWhere(
              targetOwner(assignableTo(Thread.class)).and(target(name("interrupt"))));

  /** A handler of the log is code of the application, and may throw. */
  private static final ArchRule ONE_LOG_FOR_LOCKS =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.lock..")
          .and()
          .doNotHaveFullyQualifiedName("dev.tollgate.lock.LockLog")
          .should()
          .accessTargetWhere(target(name("getLogger")));

  /** A thread keeps the class loader and the inheritable thread locals of who makes it. */
  private static final ArchRule ONE_PLACE_MAKES_THREADS =
      noClasses()
          .that(OURS)
          .and()
          .doNotHaveFullyQualifiedName("dev.tollgate.transport.DaemonThreads")
          .should()
          .accessTargetWhere(targetOwner(assignableTo(Thread.class)).and(target(name("<init>"))))
          .orShould()
          .dependOnClassesThat()
          .belongToAnyOf(Executors.class, Timer.class);

  @Test
  void codeOfTheApplicationRunsInFewPlaces() {
    ONE_WAY_TO_INTERRUPT.check(MAIN);
    ONE_LOG_FOR_LOCKS.check(MAIN);
    ONE_PLACE_MAKES_THREADS.check(MAIN);
  }

  @Test
  void packagesBuildOnEachOtherOneWay() {
    WIRE_STANDS_ALONE.check(MAIN);
    TLS_STANDS_ALONE.check(MAIN);
    TRANSPORT_KNOWS_WIRE_ONLY.check(MAIN);
    VALUE_KNOWS_WIRE_AND_H2.check(MAIN);
    JDBC_DOES_NOT_KNOW_LOCK.check(MAIN);
    LOCK_USES_JDBC_AND_NO_VALUES.check(MAIN);
    NO_CYCLES.check(MAIN);
  }

  @Test
  void h2IsWhereItBelongs() {
    H2_IN_VALUE_JDBC_AND_BRIDGE.check(MAIN);
    ONE_CLASS_INSIDE_H2.check(MAIN);
  }

  @Test
  void thereAreNoOtherDependencies() {
    ONLY_THE_JDK_H2_AND_ANNOTATIONS.check(MAIN);
  }

  @Test
  void theRulesFire() {
    JavaClasses wrong =
        new ClassFileImporter()
            .importClasses(
                KnowsTransport.class,
                SpeaksH2.class,
                SpeaksH2.UsesJdbc.class,
                SecondBridge.class,
                KnowsLock.class,
                KnowsValues.class,
                GoesOwnWays.class,
                KnowsWire.class,
                dev.tollgate.transport.NodeAddress.class);
    assertTrue(WIRE_STANDS_ALONE.evaluate(wrong).hasViolation());
    assertTrue(TLS_STANDS_ALONE.evaluate(wrong).hasViolation());
    assertTrue(TRANSPORT_KNOWS_WIRE_ONLY.evaluate(wrong).hasViolation());
    assertTrue(H2_IN_VALUE_JDBC_AND_BRIDGE.evaluate(wrong).hasViolation());
    assertTrue(ONE_CLASS_INSIDE_H2.evaluate(wrong).hasViolation());
    assertTrue(JDBC_DOES_NOT_KNOW_LOCK.evaluate(wrong).hasViolation());
    assertTrue(LOCK_USES_JDBC_AND_NO_VALUES.evaluate(wrong).hasViolation());
    assertTrue(NO_CYCLES.evaluate(wrong).hasViolation());
    assertTrue(ONE_WAY_TO_INTERRUPT.evaluate(wrong).hasViolation());
    assertTrue(ONE_LOG_FOR_LOCKS.evaluate(wrong).hasViolation());
    assertTrue(ONE_PLACE_MAKES_THREADS.evaluate(wrong).hasViolation());
    assertTrue(ONLY_THE_JDK_H2_AND_ANNOTATIONS.evaluate(wrong).hasViolation());
  }
}
