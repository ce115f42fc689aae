package dev.tollgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Where a page names a method of one of our classes, the class has it. */
class NamesInPagesTest {
  private static final Path ROOT = Path.of("..");
  private static final List<String> MODULES =
      List.of("driver", "sql-frontend", "migrations", "replica", "samples");

  /** Pages that name classes of others, and messages, with a dot. */
  private static final List<String> OF_OTHERS = List.of("benchmarks.md", "protocol.md");

  private static final Pattern TEST = Pattern.compile("`([A-Z]\\w+)#([a-z]\\w+)");
  private static final Pattern METHOD =
      Pattern.compile("`(?:[a-z]\\w*\\.)*([A-Z]\\w+)[.#]([a-z]\\w+)");

  @Test
  void methodsExist() throws IOException {
    Map<String, List<Path>> sources = sources();
    List<String> missing = new ArrayList<>();
    int checked = 0;
    for (Path page : pages()) {
      Pattern names = OF_OTHERS.contains(page.getFileName().toString()) ? TEST : METHOD;
      for (MatchResult name : names.matcher(Files.readString(page)).results().toList()) {
        List<Path> files = sources.getOrDefault(name.group(1), List.of());
        Pattern method = Pattern.compile("\\b" + name.group(2) + "\\b");
        // a class of somebody else's is none of ours to check
        if (!files.isEmpty()) {
          checked++;
          if (files.stream().noneMatch(file -> method.matcher(read(file)).find())) {
            missing.add(page + ": " + name.group(1) + "." + name.group(2));
          }
        }
      }
    }
    assertEquals(List.of(), missing);
    assertTrue(checked > 100, "only " + checked + " names were found");
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("README.md")));
    try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
      files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
    }
    for (String module : MODULES) {
      walk(ROOT.resolve(module), "DESIGN.md", pages::add);
    }
    return pages;
  }

  private static Map<String, List<Path>> sources() throws IOException {
    Map<String, List<Path>> sources = new TreeMap<>();
    for (String module : MODULES) {
      walk(
          ROOT.resolve(module),
          ".java",
          file -> {
            String name = file.getFileName().toString();
            sources
                .computeIfAbsent(
                    name.substring(0, name.length() - ".java".length()), key -> new ArrayList<>())
                .add(file);
          });
    }
    return sources;
  }

  private static void walk(Path module, String end, Consumer<Path> use) throws IOException {
    try (Stream<Path> files = Files.walk(module)) {
      files
          .filter(file -> file.toString().endsWith(end))
          .filter(file -> !file.toString().contains("/target/"))
          .sorted()
          .forEach(use);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
