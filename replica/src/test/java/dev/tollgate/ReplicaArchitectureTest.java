package dev.tollgate;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
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
          .layer("clients")
          .definedBy("dev.tollgate.node.client..")
          .layer("replica")
          .definedBy("dev.tollgate.node.replica..")
          .layer("store")
          .definedBy("dev.tollgate.store..")
          .layer("log")
          .definedBy("dev.tollgate.log..")
          .layer("snapshot")
          .definedBy("dev.tollgate.snapshot..")
          .layer("core")
          .definedBy("dev.tollgate.core..")
          .whereLayer("command line")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("node")
          .mayOnlyBeAccessedByLayers("command line")
          .whereLayer("clients")
          .mayOnlyBeAccessedByLayers("node")
          .whereLayer("replica")
          .mayOnlyBeAccessedByLayers("node", "clients")
          .whereLayer("store")
          .mayOnlyBeAccessedByLayers("node", "clients", "replica")
          .whereLayer("log")
          .mayOnlyBeAccessedByLayers("command line", "node", "clients", "replica")
          .whereLayer("snapshot")
          .mayOnlyBeAccessedByLayers("command line", "node", "replica", "store", "log");

  private final JavaClasses classes =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_JARS)
          .importPackages("dev.tollgate");

  @Test
  void dependenciesGoDownOnly() {
    LAYERS.check(classes);
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching("dev.tollgate.(**)").should().beFreeOfCycles().check(classes);
  }

  @Test
  void ratisIsKnownToTheLogOnly() {
    only("dev.tollgate.log..", "org.apache.ratis..").check(classes);
  }

  @Test
  void h2IsKnownToTheStoreOnly() {
    only("dev.tollgate.store..", "org.h2..").check(classes);
  }

  @Test
  void nettyIsKnownToTheServerOnly() {
    only("dev.tollgate.node..", "io.netty..").check(classes);
  }

  @Test
  void calciteIsKnownToNobody() {
    only("nowhere", "org.apache.calcite..").check(classes);
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
