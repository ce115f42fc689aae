package dev.tollgate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The map in the DESIGN.md of a package or module has a place for every class, and no other ones.
 */
class DesignPagesTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern NAME = Pattern.compile("`([A-Z]\\w+)`");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "driver/spring",
        "migrations/core",
        "migrations/flyway",
        "migrations/liquibase",
        "replica/src/main/java/dev/tollgate/core",
        "replica/src/main/java/dev/tollgate/log",
        "replica/src/main/java/dev/tollgate/node",
        "replica/src/main/java/dev/tollgate/store"
      })
  void everyClassIsOnTheMap(String room) throws IOException {
    Path directory = ROOT.resolve(room);
    Path sources = directory.resolve(Path.of("src", "main", "java"));
    assertEquals(
        List.copyOf(classes(Files.isDirectory(sources) ? sources : directory)),
        List.copyOf(mapped(directory.resolve("DESIGN.md"))));
  }

  private static SortedSet<String> classes(Path room) throws IOException {
    SortedSet<String> names = new TreeSet<>();
    try (Stream<Path> files = Files.walk(room)) {
      files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".java") && !name.equals("package-info.java"))
          .forEach(name -> names.add(name.substring(0, name.length() - ".java".length())));
    }
    return names;
  }

  /** What stands in code font between the first map and the decisions, each name once. */
  private static SortedSet<String> mapped(Path page) throws IOException {
    String text = Files.readString(page);
    String maps = text.substring(text.indexOf("\n## Map"), text.indexOf("\n## Decisions"));
    List<String> names = new ArrayList<>();
    NAME.matcher(maps).results().forEach(found -> names.add(found.group(1)));
    SortedSet<String> once = new TreeSet<>(names);
    assertEquals(once.size(), names.size(), () -> page + " names a class twice: " + names);
    return once;
  }
}
