package dev.tollgate.samples.torture.history;

import dev.tollgate.log.trace.BrokenPromise;
import dev.tollgate.log.trace.PromiseChecker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the traces of the nodes show: what nodes have promised each other.
 *
 * @param lines of all traces
 * @param broken for a reader; empty if all promises were kept
 */
public record TraceCheck(long lines, List<String> broken) {
  /** Broken promises beyond these are only counted. */
  private static final int TOLD = 5;

  public TraceCheck {
    broken = List.copyOf(broken);
  }

  /**
   * Checks the traces of nodes that have ended.
   *
   * @param files of all nodes
   */
  public static TraceCheck of(Collection<Path> files) throws IOException {
    long lines = 0;
    for (Path file : files) {
      try (Stream<String> all = Files.lines(file)) {
        lines += all.count();
      }
    }
    List<BrokenPromise> found = PromiseChecker.checkFiles(files);
    List<String> told = new ArrayList<>();
    found.stream().limit(TOLD).forEach(one -> told.add(one.rule().text() + ": " + one));
    if (found.size() > TOLD) {
      told.add("and " + (found.size() - TOLD) + " more");
    }
    return new TraceCheck(lines, told);
  }
}
