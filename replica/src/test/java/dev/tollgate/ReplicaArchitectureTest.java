package dev.tollgate;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import dev.tollgate.log.PrivateFiles;
import java.lang.reflect.AccessibleObject;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.util.Set;
import java.util.Timer;
import org.h2.engine.RightOwner;
import org.junit.jupiter.api.Test;

/** One natural direction of flow, and every foreign library in the one room that knows it. */
class ReplicaArchitectureTest {
  private static final ArchRule LAYERS =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("command line")
          .definedBy("dev.tollgate.cli..")
          .layer("node")
          .definedBy("dev.tollgate.node")
          .layer("scripts")
          .definedBy("dev.tollgate.node.scripts..")
          .layer("admin")
          .definedBy("dev.tollgate.node.admin..")
          .layer("clients")
          .definedBy("dev.tollgate.node.client..")
          .layer("logins")
          .definedBy("dev.tollgate.node.login..")
          .layer("replica")
          .definedBy("dev.tollgate.node.replica..")
          .layer("audit")
          .definedBy("dev.tollgate.node.audit..")
          .layer("json")
          .definedBy("dev.tollgate.node.json..")
          .layer("slow")
          .definedBy("dev.tollgate.node.slow..")
          .layer("store")
          .definedBy("dev.tollgate.store..")
          .layer("log")
          .definedBy("dev.tollgate.log..")
          .layer("snapshot")
          .definedBy("dev.tollgate.snapshot..")
          .layer("seal")
          .definedBy("dev.tollgate.seal..")
          .layer("core")
          .definedBy("dev.tollgate.core..")
          .whereLayer("command line")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("node")
          .mayOnlyBeAccessedByLayers("command line")
          .whereLayer("scripts")
          .mayOnlyBeAccessedByLayers("node")
          .whereLayer("admin")
          .mayOnlyBeAccessedByLayers("node", "scripts")
          .whereLayer("clients")
          .mayOnlyBeAccessedByLayers("command line", "node", "scripts", "admin")
          .whereLayer("logins")
          .mayOnlyBeAccessedByLayers("command line", "node", "scripts", "clients")
          .whereLayer("replica")
          .mayOnlyBeAccessedByLayers("node", "scripts", "admin", "clients")
          .whereLayer("audit")
          .mayOnlyBeAccessedByLayers("command line", "node", "admin", "clients", "replica")
          .whereLayer("json")
          .mayOnlyBeAccessedByLayers("command line", "scripts", "admin", "audit")
          .whereLayer("slow")
          .mayOnlyBeAccessedByLayers("command line", "node", "admin", "clients", "replica")
          .whereLayer("store")
          .mayOnlyBeAccessedByLayers("node", "scripts", "clients", "replica")
          .whereLayer("log")
          .mayOnlyBeAccessedByLayers(
              "command line", "node", "scripts", "admin", "clients", "replica", "audit", "slow")
          .whereLayer("snapshot")
          .mayOnlyBeAccessedByLayers("command line", "node", "replica", "store", "log")
          .whereLayer("seal")
          .mayOnlyBeAccessedByLayers("command line", "node", "audit", "clients", "snapshot", "log");

  /**
   * A thread that ends by a bug must end the node. The thread that applies hands what it meets to
   * the caller, who waits for it.
   */
  private static final ArchRule SUPERVISED =
      noClasses()
          .that(resideInAPackage("dev.tollgate.."))
          .and()
          .resideOutsideOfPackages(
              "dev.tollgate.cli..",
              "dev.tollgate.transport..",
              "dev.tollgate.jdbc..",
              "dev.tollgate.lock..")
          .and()
          .haveSimpleNameNotEndingWith("Supervision")
          .and()
          .haveSimpleNameNotEndingWith("ApplyThread")
          .should()
          .callConstructorWhere(
              target(owner(assignableTo(Thread.class)))
                  .or(target(owner(assignableTo(Timer.class)))));

  /** So that DESIGN.md of package log can list what an upgrade of Ratis has to look at. */
  private static final ArchRule REACHES_INTO_RATIS =
      noClasses()
          .that(resideInAPackage("dev.tollgate.log.."))
          .and()
          .haveSimpleNameNotEndingWith("RatisInternals")
          .should()
          .callMethodWhere(
              target(owner(assignableTo(AccessibleObject.class)))
                  .and(target(name("setAccessible"))));

  /**
   * H2 compares objects by their ids, and PUBLIC has the id of the user that owns schema PUBLIC.
   */
  private static final ArchRule OWNERS_HAVE_NAMES =
      noClasses()
          .should()
          .callMethodWhere(
              target(owner(assignableTo(RightOwner.class))).and(target(name("equals"))));

  /** A rename without a sync of the directory may be undone by a power cut. */
  private static final ArchRule RENAMES =
      noClasses()
          .that(resideInAPackage("dev.tollgate.."))
          .and()
          .doNotHaveSimpleName("SyncedFiles")
          .should()
          .callMethodWhere(target(owner(assignableTo(Files.class))).and(target(name("move"))));

  /**
   * Those that write files of a node by themselves: in place, or what no start reads, or with syncs
   * of their own.
   */
  private static final Set<String> WRITERS =
      Set.of(
          "SyncedFiles",
          "PrivateFiles",
          "SyncedIndex",
          "StartFailure",
          "PromiseTrace",
          "SyncedChannel");

  private static final ArchRule WRITES =
      noClasses()
          .that(
              resideInAPackage("dev.tollgate.log..")
                  .and(
                      describe(
                          "leave writing to SyncedFiles",
                          type -> !WRITERS.contains(type.getSimpleName()))))
          .should()
          .callMethodWhere(
              target(owner(assignableTo(PrivateFiles.class)))
                  .and(target(nameMatching("replace|open"))))
          .orShould()
          .callMethodWhere(
              target(owner(assignableTo(Files.class)))
                  .and(
                      target(
                          nameMatching(
                              "copy|write.*|create(Temp)?File|new(OutputStream|BufferedWriter|ByteChannel)"))))
          .orShould()
          .callMethodWhere(
              target(owner(assignableTo(FileChannel.class)))
                  .and(target(nameMatching("force|truncate|write"))));

  private static final ArchRule TRACES =
      classes()
          .that(resideInAPackage("dev.tollgate.log.trace"))
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("java..", "org.jspecify..", "dev.tollgate.log.trace");

  /** What the rest of a node uses of package store.h2. */
  private static final Set<String> FOR_OTHERS =
      Set.of("SqlErrors", "SqlValue", "TimeZones", "ReplicaFailure");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_JARS)
          .importPackages("dev.tollgate");

  @Test
  void dependenciesGoDownOnly() {
    LAYERS.check(CLASSES);
  }

  @Test
  void filesAreRenamedWithTheirSyncs() {
    RENAMES.check(CLASSES);
  }

  @Test
  void filesAreWrittenWithTheirSyncs() {
    WRITES.check(CLASSES);
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("dev.tollgate.(**)").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void ratisIsKnownToItsRoomsOnly() {
    only("dev.tollgate.log.[ratis|peer|snapshot]", "org.apache.ratis..").check(CLASSES);
  }

  /** Other programs have the checker on their class path, and nothing that a node needs. */
  @Test
  void tracesNeedTheJdkAlone() {
    TRACES.check(CLASSES);
  }

  @Test
  void h2IsKnownToTheStoreOnly() {
    only("dev.tollgate.store..", "org.h2..").check(CLASSES);
  }

  /** Many classes of these rooms are public, for the other rooms of the store alone. */
  @Test
  void roomsOfTheStoreAreItsOwn() {
    only("dev.tollgate.store..", "dev.tollgate.store.[limits|fence]..").check(CLASSES);
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.tollgate.store..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.tollgate.store.h2")
                .and(
                    describe(
                        "are no errors, values or time zones",
                        type -> !FOR_OTHERS.contains(type.getSimpleName()))))
        .check(CLASSES);
  }

  @Test
  void nettyIsKnownToTheServerOnly() {
    only("dev.tollgate.node..", "io.netty..").check(CLASSES);
  }

  /** Embedded nodes have neither of the two on their class path for certain. */
  @Test
  void metricsAndHttpAreKnownToTheAdminAddressOnly() {
    only("dev.tollgate.node.admin", "io.micrometer..").check(CLASSES);
    only("dev.tollgate.node.admin", "io.prometheus..").check(CLASSES);
    only("dev.tollgate.node.admin", "io.netty.handler.codec.http..").check(CLASSES);
  }

  /** Embedded nodes do not have the library. */
  @Test
  void tokensAreKnownToTheirRoomOnly() {
    only("dev.tollgate.node.login", "com.nimbusds..").check(CLASSES);
  }

  /** Embedded nodes do not have the library. */
  @Test
  void directoriesAreKnownToTheirRoomOnly() {
    only("dev.tollgate.node.login", "com.unboundid..").check(CLASSES);
  }

  @Test
  void calciteIsKnownToNobody() {
    only("nowhere", "org.apache.calcite..").check(CLASSES);
  }

  /** A collection stops everything, so no request may wait for one or set off many. */
  @Test
  void collectionsAreAskedForByTheWatchAlone() {
    noClasses()
        .that()
        .resideOutsideOfPackage("dev.tollgate.store..")
        .should()
        .callMethod(System.class, "gc")
        .orShould()
        .callMethod(Runtime.class, "gc")
        .check(CLASSES);
  }

  @Test
  void threadsAreSupervised() {
    SUPERVISED.check(CLASSES);
  }

  @Test
  void oneClassReachesIntoRatis() {
    REACHES_INTO_RATIS.check(CLASSES);
  }

  @Test
  void usersAndRolesAreComparedByName() {
    OWNERS_HAVE_NAMES.check(CLASSES);
  }

  @Test
  void ruleCatchesUsersThatAreComparedById() {
    JavaClasses careless = new ClassFileImporter().importClasses(Careless.class);
    assertThrows(AssertionError.class, () -> OWNERS_HAVE_NAMES.check(careless));
  }

  private record Careless(RightOwner owner, RightOwner other) {
    @Override
    public String toString() {
      return String.valueOf(owner.equals(other));
    }
  }

  @Test
  void ruleCatchesASecondReachIntoRatis() throws ClassNotFoundException {
    JavaClasses held =
        new ClassFileImporter().importClasses(Class.forName("dev.tollgate.log.ratis.HeldAppend"));
    assertThrows(AssertionError.class, () -> REACHES_INTO_RATIS.check(held));
  }

  /** This test does what Ratis does. */
  @Test
  void ruleCatchesFilesWithoutSyncs() throws ClassNotFoundException {
    JavaClasses arrival =
        new ClassFileImporter()
            .importClasses(Class.forName("dev.tollgate.log.ratis.SnapshotArrivalTest"));
    assertThrows(AssertionError.class, () -> RENAMES.check(arrival));
    assertThrows(AssertionError.class, () -> WRITES.check(arrival));
  }

  @Test
  void ruleCatchesAThreadOfItsOwn() {
    JavaClasses loner = new ClassFileImporter().importClasses(Loner.class);
    assertThrows(AssertionError.class, () -> SUPERVISED.check(loner));
  }

  private static final class Loner {
    private final Thread thread = new Thread(() -> {});

    @Override
    public String toString() {
      return thread.toString();
    }
  }

  @Test
  void ruleCatchesAStranger() {
    JavaClasses stranger = new ClassFileImporter().importClasses(Stranger.class);
    assertThrows(
        AssertionError.class, () -> only("dev.tollgate.store..", "org.h2..").check(stranger));
  }

  private static ArchRule only(String room, String library) {
    return noClasses()
        .that(resideInAPackage("dev.tollgate.."))
        .and()
        .resideOutsideOfPackage(room)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(library);
  }

  private static final class Stranger {
    private final org.h2.value.Value value = org.h2.value.ValueNull.INSTANCE;

    @Override
    public String toString() {
      return value.toString();
    }
  }
}
