package dev.tollgate.log.trace;

import dev.tollgate.log.trace.Promise.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks the traces of all nodes of a run. Clocks are not compared: what one node writes is in
 * order, and an acknowledgement that a leader counts has been given before. So the traces may be of
 * several machines.
 */
public final class PromiseChecker {
  private PromiseChecker() {}

  /**
   * Returns which rules were broken where, the lines of one node after those of another.
   *
   * @param lines of all nodes, those of each node in the order in which it wrote them
   */
  public static List<BrokenPromise> check(Collection<Promise> lines) {
    Map<String, List<Promise>> traces = new LinkedHashMap<>();
    for (Promise line : lines) {
      traces.computeIfAbsent(line.node(), any -> new ArrayList<>()).add(line);
    }
    PromisesOfAll all = new PromisesOfAll(traces.keySet());
    traces.forEach(
        (node, trace) -> {
          PromisesOfNode one = new PromisesOfNode(node, all);
          inOrder(trace).forEach(one::read);
        });
    return all.broken();
  }

  /** Sorts the lines of each process by their places. */
  private static List<Promise> inOrder(List<Promise> trace) {
    List<Promise> sorted = new ArrayList<>();
    int begin = 0;
    for (int i = 1; i <= trace.size(); i++) {
      if (i == trace.size() || trace.get(i).kind() == Kind.RESTARTED) {
        List<Promise> process = new ArrayList<>(trace.subList(begin, i));
        process.sort(Comparator.comparingLong(Promise::sequence));
        sorted.addAll(process);
        begin = i;
      }
    }
    return sorted;
  }

  /**
   * Reads the trace of one node. The last line of a process that was killed may be torn, and its
   * promise was not made.
   *
   * @throws IllegalArgumentException if another line is torn
   */
  public static List<Promise> read(Path file) throws IOException {
    List<Promise> lines = new ArrayList<>();
    String torn = null;
    for (String line : Files.readAllLines(file)) {
      Promise promise;
      try {
        promise = Promise.of(line);
      } catch (IllegalArgumentException e) {
        if (torn != null) {
          throw e;
        }
        torn = line;
        continue;
      }
      if (torn != null && promise.kind() != Kind.RESTARTED) {
        throw new IllegalArgumentException(file + ": no line of a trace: '" + torn + "'");
      }
      torn = null;
      lines.add(promise);
    }
    return lines;
  }
}
