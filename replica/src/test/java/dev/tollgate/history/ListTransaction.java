package dev.tollgate.history;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One transaction over lists as its client saw it. The client appends values that nobody else
 * appends, so a value says whose it is.
 *
 * @param name unlike all others of the history
 * @param serializable false if it was READ COMMITTED
 * @param steps those that were answered, and an append that was not
 * @param beganNanos before its first statement was sent
 * @param endedNanos after its end was answered
 */
record ListTransaction(
    String name,
    boolean serializable,
    List<Step> steps,
    End end,
    long beganNanos,
    long endedNanos) {

  ListTransaction {
    steps = List.copyOf(steps);
  }

  /** How a transaction ended, as far as its client knows. */
  enum End {
    COMMITTED,
    ROLLED_BACK,
    /** The answer to the commit is missing. */
    UNKNOWN
  }

  /** What a transaction did to a list. */
  sealed interface Step {
    int key();
  }

  /** Put a value at the end of a list. */
  record Append(int key, int value) implements Step {}

  /**
   * Saw a list.
   *
   * @param locking true if it was read FOR UPDATE
   */
  record Read(int key, List<Integer> values, boolean locking) implements Step {
    Read {
      values = List.copyOf(values);
    }
  }

  /** The values that it appended, by list, in order. */
  Map<Integer, List<Integer>> appended() {
    Map<Integer, List<Integer>> appended = new LinkedHashMap<>();
    for (Step step : steps) {
      if (step instanceof Append append) {
        appended.computeIfAbsent(append.key(), key -> new ArrayList<>()).add(append.value());
      }
    }
    return appended;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ListTransaction transaction && transaction.name.equals(name);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    return name;
  }
}
