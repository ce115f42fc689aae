package dev.tollgate.log.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The traces of the nodes of one test. */
public final class PromiseFiles {
  private static final String END = ".promises";

  private PromiseFiles() {}

  /** Returns where a node writes its promises. */
  public static Path of(Path directory, String node) {
    return directory.resolve(node + END);
  }

  /** Fails if the nodes of a directory have broken a rule. */
  public static void check(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      List<Path> traces = files.filter(path -> path.toString().endsWith(END)).sorted().toList();
      assertEquals(List.of(), PromiseChecker.checkFiles(traces));
    }
  }
}
