package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.StateChecksum;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One comparison of the replicas: the checksum that each reported for its state at one log index.
 * Part of the replicated state, so that all nodes reach the same verdict, and a node that was down
 * reaches it later. Read it through {@link ClusterState}.
 */
public final class ReplicaCheck {
  private final long logIndex;
  private final List<String> nodes;
  private final SortedMap<String, StateChecksum> reports = new TreeMap<>();

  /** The result of a check for one node. */
  public enum Verdict {
    /** The node agrees with the majority. */
    EQUAL,
    /** The node differs from the majority, or answers differ and none has a majority. */
    DIFFERS,
    /** All answers so far are equal, but they are no majority yet. */
    UNDECIDED,
    /** The node has not answered: it is down, behind, or a definition kept it from answering. */
    NO_ANSWER
  }

  ReplicaCheck(long logIndex, List<String> nodes) {
    this.logIndex = logIndex;
    this.nodes = List.copyOf(nodes);
  }

  ReplicaCheck(StateRecord.CheckState state) {
    this(state.logIndex(), state.nodes());
    reports.putAll(state.reports());
  }

  StateRecord.CheckState state() {
    return new StateRecord.CheckState(logIndex, nodes, reports);
  }

  /** Returns the check as it is now, as a copy to keep. */
  public ReplicaCheck copy() {
    return new ReplicaCheck(state());
  }

  /** The log index at which the states are compared. */
  public long logIndex() {
    return logIndex;
  }

  /** The nodes of the cluster when the check began. */
  public List<String> nodes() {
    return nodes;
  }

  /** The answers of the nodes so far. */
  public SortedMap<String, StateChecksum> reports() {
    return Collections.unmodifiableSortedMap(reports);
  }

  /**
   * Records an answer, which replaces an earlier one of the node; returns false if the node was not
   * asked.
   */
  boolean report(String nodeId, StateChecksum checksum) {
    requireNonNull(checksum, "checksum");
    if (!nodes.contains(nodeId)) {
      return false;
    }
    reports.put(nodeId, checksum);
    return true;
  }

  /** Returns true if every node has answered. */
  public boolean isComplete() {
    return reports.size() == nodes.size();
  }

  /** Returns true if two answers differ. */
  public boolean hasDifferences() {
    StateChecksum any = reports.isEmpty() ? null : reports.get(reports.firstKey());
    return any != null && agreeingWith(any) < reports.size();
  }

  /** The answer of more than half of the nodes, or null. */
  public @Nullable StateChecksum majority() {
    for (StateChecksum candidate : reports.values()) {
      if (2 * agreeingWith(candidate) > nodes.size()) {
        return candidate;
      }
    }
    return null;
  }

  private int agreeingWith(StateChecksum checksum) {
    int agreeing = 0;
    for (StateChecksum report : reports.values()) {
      agreeing += report.agreesWith(checksum) ? 1 : 0;
    }
    return agreeing;
  }

  /** Returns the verdict on a node. */
  public Verdict verdictOn(String nodeId) {
    StateChecksum report = reports.get(nodeId);
    StateChecksum majority = majority();
    if (report == null) {
      return Verdict.NO_ANSWER;
    }
    if (majority == null) {
      return hasDifferences() ? Verdict.DIFFERS : Verdict.UNDECIDED;
    }
    return report.agreesWith(majority) ? Verdict.EQUAL : Verdict.DIFFERS;
  }
}
