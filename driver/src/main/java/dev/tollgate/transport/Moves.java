package dev.tollgate.transport;

import static java.util.stream.Collectors.joining;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Summarizes to which nodes the sessions of this process moved. When a node ends, thousands of
 * sessions move at once, and a line for each would bury the rest of the log. Thread-safe.
 */
final class Moves {
  private static final Duration SUMMED_UP = Duration.ofSeconds(1);

  private final Map<String, Integer> sessions = new TreeMap<>();
  private long firstNanos;
  private long longestMillis;

  /**
   * @param searchedMillis how long the session was without a node
   */
  synchronized void add(String address, long searchedMillis, long nowNanos) {
    if (sessions.isEmpty()) {
      firstNanos = nowNanos;
      longestMillis = 0;
    }
    sessions.merge(address, 1, Integer::sum);
    longestMillis = Math.max(longestMillis, searchedMillis);
  }

  /** The line to log, a second after the first move that was not reported yet. */
  synchronized Optional<String> due(long nowNanos) {
    if (sessions.isEmpty() || nowNanos - firstNanos < SUMMED_UP.toNanos()) {
      return Optional.empty();
    }
    String line =
        "sessions moved: "
            + sessions.entrySet().stream()
                .map(node -> node.getValue() + " to " + node.getKey())
                .collect(joining(", "))
            + ", found in at most "
            + longestMillis
            + " ms";
    sessions.clear();
    return Optional.of(line);
  }
}
