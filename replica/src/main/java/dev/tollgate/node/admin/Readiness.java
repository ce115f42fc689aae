package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogStatus;
import dev.tollgate.node.slow.ApplyWatch;
import java.util.ArrayList;
import java.util.List;

/** Whether a node can serve clients or send them to the leader, and why not. Thread-safe. */
final class Readiness {
  /** Entries that a node may be behind once it has been ready: a busy cluster's for some tenths. */
  static final long MOST_BEHIND = 1_000;

  private final NodeParts node;
  private volatile boolean caughtUp;

  Readiness(NodeParts node) {
    this.node = requireNonNull(node, "node");
  }

  /** Why the node is not ready, one reason in a line; empty if it is. */
  List<String> obstacles() {
    List<String> obstacles = new ArrayList<>();
    if (node.replica().failure() != null) {
      obstacles.add("the node has stopped serving; its log says why");
      return obstacles;
    }
    if (node.stopping().getAsBoolean()) {
      obstacles.add("the node stops");
    }
    if (node.replica().isStanding()) {
      obstacles.add("the node could not carry out a command of the log, which its log file names");
    } else if (node.replica().isApart()) {
      obstacles.add("the state of the node differed from the leader's, and it waits for another");
    }
    ApplyWatch.UnderWay late = node.replica().applying().late();
    if (late != null) {
      obstacles.add(late.describe());
    }
    long diskHungMillis = node.log().diskHungMillis();
    if (diskHungMillis > 0) {
      obstacles.add(LogStatus.describeHungDisk(diskHungMillis));
    }
    LogStatus status = node.log().status();
    String leader = status.leaderId();
    if (leader == null) {
      obstacles.add("the node knows no leader");
    } else if (leader.equals(node.nodeId()) && !node.replica().isLeading()) {
      obstacles.add("the node is the leader, and has not applied its log yet");
    }
    if (!node.log().isAlone() && !node.log().isKnown()) {
      obstacles.add("the cluster has not recorded the data directory of the node yet");
    }
    long committed = status.knownCommitIndex();
    long behind = committed - status.lastAppliedIndex();
    if (behind > (caughtUp ? MOST_BEHIND : LogStatus.CAUGHT_UP_ENTRIES)) {
      obstacles.add("the node is " + behind + " committed entries behind");
    }
    caughtUp |= obstacles.isEmpty();
    return obstacles;
  }
}
