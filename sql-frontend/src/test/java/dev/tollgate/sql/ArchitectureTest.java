package dev.tollgate.sql;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import dev.tollgate.sql.tree.ObjectClass;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the compiler cannot hold: who may know whom. */
class ArchitectureTest {

  /** More than "no Calcite in a signature": the API does not even use what does. */
  private static final ArchRule API_KNOWS_NO_PARSER =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.sql")
          .and()
          .arePublic()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.apache.calcite..", "dev.tollgate.sql.tree..", "dev.tollgate.sql.parser..");

  private static final ArchRule TREE_KNOWS_CALCITE_ALONE =
      noClasses()
          .that()
          .resideInAPackage("dev.tollgate.sql.tree")
          .should()
          .dependOnClassesThat(
              resideInAPackage("dev.tollgate..")
                  .and(
                      com.tngtech.archunit.base.DescribedPredicate.not(
                          resideInAPackage("dev.tollgate.sql.tree"))));

  private static final ArchRule PARSER_IS_USED_BY_THE_FRONT_END_ALONE =
      classes()
          .that()
          .resideInAPackage("dev.tollgate.sql.parser")
          .should()
          .onlyHaveDependentClassesThat()
          .resideInAnyPackage("dev.tollgate.sql", "dev.tollgate.sql.parser");

  private static final ArchRule NO_INPUT_AND_OUTPUT =
      noClasses()
          .that()
          .resideInAnyPackage("dev.tollgate.sql", "dev.tollgate.sql.tree")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("java.net..", "java.nio..", "java.sql..", "org.slf4j..")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Thread.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(java.time.Clock.class);

  private static final ArchRule NO_CYCLES =
      slices().matching("dev.tollgate.(**)").should().beFreeOfCycles();

  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.tollgate.sql");

  @Test
  void apiKnowsNoParser() {
    API_KNOWS_NO_PARSER.check(MAIN);
  }

  @Test
  void treeKnowsCalciteAlone() {
    TREE_KNOWS_CALCITE_ALONE.check(MAIN);
  }

  @Test
  void parserIsUsedByTheFrontEndAlone() {
    PARSER_IS_USED_BY_THE_FRONT_END_ALONE.check(MAIN);
  }

  @Test
  void frontEndDoesNoInputAndOutput() {
    NO_INPUT_AND_OUTPUT.check(MAIN);
  }

  @Test
  void packagesHaveNoCycles() {
    NO_CYCLES.check(MAIN);
  }

  @Test
  void rulesFire() {
    JavaClasses leak = new ClassFileImporter().importClasses(LeakyApi.class);
    assertTrue(API_KNOWS_NO_PARSER.evaluate(leak).hasViolation());
    assertTrue(NO_INPUT_AND_OUTPUT.evaluate(leak).hasViolation());
  }

  /** The two enumerations are apart only so that the tree need not know the API. */
  @Test
  void whatTheTreeDefinesIsAKindOfObject() {
    assertEquals(names(ObjectClass.values()), names(ObjectKind.values()));
  }

  private static Set<String> names(Enum<?>[] values) {
    return Arrays.stream(values).map(Enum::name).collect(Collectors.toSet());
  }
}
