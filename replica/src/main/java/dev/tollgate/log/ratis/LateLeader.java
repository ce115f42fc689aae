package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a leader that has not applied its log yet make way for a node that has. A node that is behind
 * is elected if the others lack entries of its log. Once another node has these entries and has
 * applied them, it serves sooner. A node that stands at a command (ADR 0097) makes way by itself.
 */
final class LateLeader implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LateLeader.class);
  private static final int LOOKS_PER_ELECTION_TIMEOUT = 2;

  private final String nodeId;
  private final Supervision supervision;
  private final long lookMillis;
  private final long mostNanos;
  private final ScheduledExecutorService clock;

  /** Since when this node has led without having applied its log; else null. Of one thread. */
  private @Nullable Long lateNanos;

  LateLeader(String nodeId, Duration electionTimeout, Supervision supervision) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.supervision = requireNonNull(supervision, "supervision");
    this.lookMillis = electionTimeout.toMillis() / LOOKS_PER_ELECTION_TIMEOUT;
    this.mostNanos = Limits.LATE_LEADER_ELECTION_TIMEOUTS * electionTimeout.toNanos();
    this.clock =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + nodeId + "-late-leader"));
  }

  /**
   * Looks periodically until this is closed.
   *
   * @param standing whether this node stands at a command
   */
  void start(RaftServer server, RaftGroupId group, BooleanSupplier standing) {
    var unused =
        clock.scheduleWithFixedDelay(
            supervision.repeated("the look for a late leader", () -> look(server, group, standing)),
            lookMillis,
            lookMillis,
            TimeUnit.MILLISECONDS);
  }

  private void look(RaftServer server, RaftGroupId group, BooleanSupplier standing) {
    try {
      RaftServer.Division division = server.getDivision(group);
      DivisionInfo info = division.getInfo();
      if (!info.isLeader() || info.isLeaderReady() || standing.getAsBoolean()) {
        lateNanos = null;
        return;
      }
      long now = System.nanoTime();
      Long since = lateNanos;
      if (since == null) {
        lateNanos = now;
      } else if (now - since > mostNanos && isAnotherReady(division)) {
        lateNanos = now;
        LOG.info("{}: has not applied its log, and another node has: steps down", nodeId);
        var unused = RatisLeadership.stepDownForAnother(server, division, clock);
      }
    } catch (IOException e) {
      LOG.debug("{}: has left its group, or is closing", nodeId, e);
    }
  }

  /** True if a follower has applied an entry of this leader, and with it all before. */
  private static boolean isAnotherReady(RaftServer.Division division) {
    RaftLog log = division.getRaftLog();
    long committed = log.getLastCommittedIndex();
    TermIndex entry = log.getTermIndex(committed);
    if (entry == null || entry.getTerm() != division.getInfo().getCurrentTerm()) {
      return false;
    }
    String self = division.getId().toString();
    for (CommitInfoProto told : division.getCommitInfos()) {
      // what a follower says of itself is what it has applied (PeerService)
      if (!told.getServer().getId().toStringUtf8().equals(self)
          && told.getCommitIndex() >= committed) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
