package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.cluster.Ports;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Renewals at the leader of three nodes in this JVM. */
class RenewalTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final long TTL_MILLIS = 1_000;

  /** No other node is to lead because this machine is busy for a moment. */
  private static final Duration ELECTION_TIMEOUT = Duration.ofSeconds(1);

  @TempDir Path directory;

  private final List<Node> nodes = new ArrayList<>();

  @AfterEach
  void stopAll() {
    nodes.forEach(Node::close);
  }

  /** Where the leader encodes the state of a million locks, nothing is applied for two seconds. */
  @Test
  void sessionIsRenewedForLongerThanItsTtlWhileNothingIsApplied() throws Exception {
    startThree();
    Node leader = leader();
    try (RawClient client = new RawClient(leader.listenAddress())) {
      client.hello();
      Reply opened =
          client.call(
              new Request.OpenSession(
                  TTL_MILLIS,
                  TTL_MILLIS,
                  new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0)));
      Request heartbeat =
          new Request.Heartbeat(List.of(((Reply.SessionReady) opened).sessionId()), List.of());
      Reply kept = new Reply.HeartbeatAck(List.of(), List.of());
      BusyReplica busy = new BusyReplica(leader.pipeline());
      try {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < Duration.ofMillis(2 * TTL_MILLIS).toNanos()) {
          assertEquals(kept, answer(client, heartbeat));
        }
      } finally {
        busy.end();
      }
      assertEquals(kept, answer(client, heartbeat));
      // an entry after all that may have been proposed meanwhile
      assertEquals(new Reply.Ok(), answer(client, new Request.ReleaseOwnLease()));
      assertEquals(kept, answer(client, heartbeat));
    }
  }

  /** The others tell the leader who they are, and it tells its clients. */
  private static Reply answer(RawClient client, Request request) throws IOException {
    Reply reply = client.call(request);
    while (reply instanceof Reply.ClusterChanged) {
      reply = client.receive();
    }
    return reply;
  }

  private void startThree() throws IOException {
    SortedMap<String, String> peers = Ports.peers(3);
    for (String id : peers.keySet()) {
      RaftSettings raft =
          new RaftSettings(
              id,
              peers.get(id),
              peers,
              directory.resolve(id),
              ELECTION_TIMEOUT,
              RaftSettings.SNAPSHOT_LOG_BYTES);
      Node node = new Node(LoopbackSettings.of(id, raft));
      nodes.add(node);
      node.start();
    }
  }

  /** One that clients are served by. */
  private Node leader() {
    return await()
        .atMost(DEADLINE)
        .until(
            () ->
                nodes.stream()
                    .filter(node -> node.isReady())
                    .filter(node -> node.status().role() == LogStatus.Role.LEADER)
                    .findFirst()
                    .orElse(null),
            found -> found != null);
  }
}
