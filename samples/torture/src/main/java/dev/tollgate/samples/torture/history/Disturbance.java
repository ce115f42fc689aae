package dev.tollgate.samples.torture.history;

import static java.util.Objects.requireNonNull;

import java.util.Set;

/**
 * A fault that was injected, and its healing.
 *
 * @param kind the word of its kind
 * @param detail what was done to which nodes, for a reader
 * @param nodes the nodes that had the fault
 * @param leavesQuorum whether a majority was left untouched, so that the cluster should have gone
 *     on
 * @param healedNanos when the fault had been healed
 */
public record Disturbance(
    String kind,
    String detail,
    Set<String> nodes,
    boolean leavesQuorum,
    long fromNanos,
    long healedNanos) {

  public Disturbance {
    requireNonNull(kind, "kind");
    requireNonNull(detail, "detail");
    nodes = Set.copyOf(nodes);
    if (healedNanos < fromNanos) {
      throw new IllegalArgumentException(detail + ": healed before it began");
    }
  }
}
