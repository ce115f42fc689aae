package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.TermLeader;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.node.slow.ApplyWatch;
import dev.tollgate.wire.Reply;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * What this node tells clients of its cluster and of itself. That may be little: no other node is
 * asked. Thread-safe.
 */
final class ClusterInfo {
  private final String nodeId;
  private final Replica replica;
  private final ReplicatedLog log;

  ClusterInfo(String nodeId, Replica replica, ReplicatedLog log) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.replica = requireNonNull(replica, "replica");
    this.log = requireNonNull(log, "log");
  }

  String nodeId() {
    return nodeId;
  }

  /** Returns the id that no other cluster has, or null if that is not known yet. */
  @Nullable String clusterId() {
    UniqueId id = replica.identity().clusterId();
    return id == null ? null : id.toString();
  }

  /**
   * Lists the nodes, for a client that has to find the leader. A node that has just handed
   * leadership over names its successor before it knows that the successor was elected.
   */
  Reply.ClusterView view() {
    String leader = log.leaderId();
    if (!replica.isLeading() && (leader == null || leader.equals(nodeId))) {
      String successor = log.successorId();
      leader = successor == null ? leader : successor;
    }
    SortedMap<String, String> nodes = replica.facts().nodes();
    return new Reply.ClusterView(
        leader == null ? null : nodes.get(leader), List.copyOf(nodes.values()));
  }

  /** The term in which this node is. */
  long term() {
    return log.term();
  }

  /** Returns the leader of this term, or null while this node knows of none that serves clients. */
  Reply.@Nullable Leader servingLeader() {
    TermLeader leader = log.servingLeader();
    SortedMap<String, String> nodes = replica.facts().nodes();
    String address = leader == null ? null : nodes.get(leader.nodeId());
    return leader == null || address == null
        ? null
        : new Reply.Leader(
            leader.term(),
            leader.nodeId(),
            new Reply.ClusterView(address, List.copyOf(nodes.values())));
  }

  /** What keeps this node from serving although it has not failed, or null. */
  private @Nullable String trouble() {
    ApplyWatch.UnderWay late = replica.applying().late();
    if (late != null) {
      return late.describe();
    }
    long diskHungMillis = log.diskHungMillis();
    return diskHungMillis == 0 ? null : LogStatus.describeHungDisk(diskHungMillis);
  }

  /** Returns how this node is doing. May wait for the log, so no event loop calls it. */
  Reply.NodeStatus nodeStatus() {
    LogStatus status = log.status();
    SortedMap<String, String> addresses = replica.facts().nodes();
    Throwable failure = replica.failure();
    return new Reply.NodeStatus(
        nodeId,
        status.role().name(),
        status.leaderId(),
        status.term(),
        status.lastAppliedIndex(),
        status.commitIndex(),
        failure == null ? trouble() : failure.toString(),
        status.members().stream()
            .map(
                member ->
                    new Reply.NodeStatus.Member(
                        member.nodeId(),
                        member.raftAddress(),
                        addresses.get(member.nodeId()),
                        member.silentMillis()))
            .toList());
  }
}
