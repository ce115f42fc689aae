package dev.tollgate.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The module stands on Spring and the lock API, and its map has a place for every class. */
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

  @Test
  void everyClassIsOnTheMap() throws IOException {
    Set<String> classes;
    try (Stream<Path> files = Files.walk(Path.of("src", "main", "java"))) {
      classes =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".java") && !name.equals("package-info.java"))
              .map(name -> name.replace(".java", ""))
              .collect(Collectors.toCollection(TreeSet::new));
    }
    String page = Files.readString(Path.of("DESIGN.md"));
    String map = page.substring(page.indexOf("\n## Map"), page.indexOf("\n## Decisions"));
    Set<String> mapped =
        Pattern.compile("`([A-Z]\\w+)`")
            .matcher(map)
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(classes, mapped);
  }
}
