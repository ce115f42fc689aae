package dev.tollgate.log.trace;

import dev.tollgate.log.trace.Promise.Kind;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Checks the traces of all nodes of a run. Clocks are not compared: what one node writes is in
 * order, and an acknowledgement that a leader counts has been given before. So the traces may be of
 * several machines. Lines are not kept, so a run may last for hours. Not thread-safe.
 */
public final class PromiseChecker {
  /** By how many lines a line may be written too late. */
  static final int WINDOW = 10_000;

  /** Indexes of one epoch of a cluster, at least. */
  private static final long EPOCH = 1L << 31;

  private static final Comparator<Promise> IN_ORDER =
      Comparator.comparingLong(Promise::sequence)
          .thenComparing(Promise::kind)
          .thenComparingLong(Promise::other);

  private final PromisesOfAll all = new PromisesOfAll();
  private final Map<String, Trace> traces = new HashMap<>();

  private PromiseChecker() {}

  /** The lines of one node that were read last, in the order of their places. */
  private final class Trace {
    private final PromisesOfNode node;
    private final PriorityQueue<Promise> waiting = new PriorityQueue<>(IN_ORDER);

    Trace(String name) {
      node = new PromisesOfNode(name, all);
      all.add(name);
    }

    void read(Promise line) {
      if (line.kind() == Kind.RESTARTED) {
        end();
      }
      waiting.add(line);
      if (waiting.size() > WINDOW) {
        node.read(waiting.remove());
      }
    }

    void end() {
      while (!waiting.isEmpty()) {
        node.read(waiting.remove());
      }
    }
  }

  /**
   * Returns which rules were broken where.
   *
   * @param lines of all nodes, those of each node in the order in which it wrote them
   */
  public static List<BrokenPromise> check(Collection<Promise> lines) {
    PromiseChecker checker = new PromiseChecker();
    lines.forEach(checker::read);
    return checker.broken();
  }

  /**
   * Returns which rules were broken where. The nodes must have ended.
   *
   * @param files the traces of all nodes
   * @throws IllegalArgumentException if a line cannot be read, besides the last one of a process
   *     that was killed: its promise was not made
   */
  public static List<BrokenPromise> checkFiles(Collection<Path> files) throws IOException {
    PromiseChecker checker = new PromiseChecker();
    for (Path file : files) {
      checker.read(file);
    }
    return checker.broken();
  }

  private void read(Promise line) {
    traces.computeIfAbsent(line.node(), Trace::new).read(withinEpoch(line));
  }

  /** The log of a restored cluster begins at the index of its epoch: entries count from there. */
  private static Promise withinEpoch(Promise line) {
    return line.index() < EPOCH
        ? line
        : new Promise(
            line.sequence(),
            line.nanos(),
            line.time(),
            line.node(),
            line.kind(),
            line.term(),
            line.index() % EPOCH,
            line.kind() == Kind.LACKS ? line.other() : line.other() % EPOCH,
            line.detail());
  }

  private void read(Path file) throws IOException {
    try (BufferedReader in = Files.newBufferedReader(file)) {
      String torn = null;
      String line = in.readLine();
      for (; line != null; line = in.readLine()) {
        Promise promise = wholeLine(line);
        if (torn != null && (promise == null || promise.kind() != Kind.RESTARTED)) {
          throw new IllegalArgumentException(file + ": no line of a trace: '" + torn + "'");
        }
        if (promise == null) {
          torn = line;
        } else {
          torn = null;
          read(promise);
        }
      }
    }
  }

  private static @Nullable Promise wholeLine(String line) {
    try {
      return Promise.of(line);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private List<BrokenPromise> broken() {
    traces.values().forEach(Trace::end);
    return all.broken();
  }
}
