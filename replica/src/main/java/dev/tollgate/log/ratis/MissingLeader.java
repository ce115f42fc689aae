package dev.tollgate.log.ratis;

import static java.util.stream.Collectors.joining;

import dev.tollgate.log.Supervision;
import dev.tollgate.log.peer.PeerTransport;
import java.io.IOException;
import java.time.Duration;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs that a node has had no leader for a while, and to which nodes it is connected. */
final class MissingLeader implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MissingLeader.class);

  /** After this many checks without a leader, an election takes longer than usual. */
  private static final int LEADERLESS_CHECKS = 10;

  /** Checks between two log lines, which is a line a minute with the default election timeout. */
  private static final int CHECKS_PER_LINE = 60;

  /**
   * A node without a leader.
   *
   * @param emptyLog true if this node has nothing of the log yet
   * @param connected whether this node is connected to each other member
   */
  record Search(boolean emptyLog, SortedMap<String, Boolean> connected) {
    /** Returns null if the node knows a leader, or is no member and so looks for none. */
    static @Nullable Search of(RaftServer server, RaftGroupId group, PeerTransport transport) {
      RaftServer.Division division;
      try {
        division = server.getDivision(group);
      } catch (IOException e) {
        // the node has left its group, or is closing
        return null;
      }
      if (division.getInfo().isLeader()
          || division.getInfo().getLeaderId() != null
          || division.getRaftConf().getPeer(division.getId()) == null) {
        return null;
      }
      SortedMap<String, Boolean> connected = new TreeMap<>();
      for (RaftPeer peer : division.getRaftConf().getAllPeers()) {
        if (!peer.getId().equals(division.getId())) {
          String id = peer.getId().toString();
          connected.put(id, transport.isConnected(id));
        }
      }
      // this can be read even if the log closes meanwhile
      return new Search(
          division.getRaftLog().getFlushIndex() == RaftLog.INVALID_LOG_INDEX, connected);
    }
  }

  private final String nodeId;
  private final Supervision supervision;
  private final ScheduledExecutorService clock;
  private int leaderlessChecks;

  MissingLeader(String nodeId, Supervision supervision) {
    this.nodeId = nodeId;
    this.supervision = supervision;
    this.clock =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + nodeId + "-missing-leader"));
  }

  /** Checks periodically until this is closed. */
  void start(Supplier<@Nullable Search> search, Duration period) {
    var unused =
        clock.scheduleWithFixedDelay(
            supervision.repeated("the search for a leader", () -> check(search.get())),
            period.toMillis(),
            period.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  /**
   * Called by one thread at a time.
   *
   * @param search null if there is a leader
   */
  void check(@Nullable Search search) {
    leaderlessChecks = search == null ? 0 : leaderlessChecks + 1;
    if (search != null && leaderlessChecks % CHECKS_PER_LINE == LEADERLESS_CHECKS) {
      LOG.warn(
          "{}: there is no leader. Other nodes: {}.{}",
          nodeId,
          search.connected().entrySet().stream()
              .map(node -> node.getKey() + (node.getValue() ? " is" : " is not") + " connected")
              .collect(joining(", ")),
          search.emptyLog()
              ? " This node has nothing of the log yet, so its vote does not count: it takes one"
                  + " more node that was here before"
              : "");
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
