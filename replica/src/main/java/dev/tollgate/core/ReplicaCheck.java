package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.StateChecksum;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One comparison of the replicas: what each of them said that its state was at one log index. Part
 * of the replicated state, so that all nodes come to the same verdict, and one that was down comes
 * to it later. Read it through {@link ClusterState}.
 */
public final class ReplicaCheck {
  private final long logIndex;
  private final List<String> nodes;
  private final SortedMap<String, StateChecksum> reports = new TreeMap<>();

  /** What a check says of one node. */
  public enum Verdict {
    /** The majority has the same. */
    EQUAL,
    /** The majority has something else, or there are several answers and none has a majority. */
    DIFFERS,
    /** All answers are alike, and they are no majority yet. */
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

  /** The check as it is now, for others to keep. */
  public ReplicaCheck copy() {
    return new ReplicaCheck(state());
  }

  /** Where in the log the states are compared. */
  public long logIndex() {
    return logIndex;
  }

  /** The nodes of the cluster when the check began. */
  public List<String> nodes() {
    return nodes;
  }

  /** What the nodes have said so far. */
  public SortedMap<String, StateChecksum> reports() {
    return Collections.unmodifiableSortedMap(reports);
  }

  /** Takes an answer; the last one of a node counts. False if nobody asked this node. */
  boolean report(String nodeId, StateChecksum checksum) {
    requireNonNull(checksum, "checksum");
    if (!nodes.contains(nodeId)) {
      return false;
    }
    reports.put(nodeId, checksum);
    return true;
  }

  /** True if every node has answered. */
  public boolean isComplete() {
    return reports.size() == nodes.size();
  }

  /** True if two answers differ. */
  public boolean hasDifferences() {
    StateChecksum any = reports.isEmpty() ? null : reports.get(reports.firstKey());
    return any != null && agreeingWith(any) < reports.size();
  }

  /** What more than half of the nodes have answered, or null. */
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

  /** What the check says of a node. */
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
