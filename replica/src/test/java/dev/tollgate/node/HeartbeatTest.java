package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a node tells those who keep sessions alive. */
class HeartbeatTest {
  private static final long SHORTEST_TTL_MILLIS = 1_000;

  @Test
  void whoRenewsInSeveralFramesHearsOfEachLoss() throws Exception {
    try (Node node = new Node(LoopbackSettings.of("n1", null))) {
      node.start();
      long first = openSession(node.listenAddress());
      long second = openSession(node.listenAddress());
      try (RawClient keeper = new RawClient(node.listenAddress())) {
        keeper.hello();
        keeper.write(new Request.Heartbeat(List.of(first), List.of()));
        assertEquals(kept(), receive(keeper));
        keeper.write(new Request.Heartbeat(List.of(second), List.of()));
        assertEquals(kept(), receive(keeper));
        Set<Long> lost = new HashSet<>();
        while (lost.size() < 2) {
          lost.addAll(((Reply.Lost) receive(keeper)).sessions());
        }
        assertEquals(Set.of(first, second), lost);
      }
    }
  }

  /** A node that has just begun to lead may also tell its clients where it is. */
  private static Reply receive(RawClient client) throws IOException {
    Reply reply = client.receive();
    while (reply instanceof Reply.ClusterChanged) {
      reply = client.receive();
    }
    return reply;
  }

  private static Reply kept() {
    return new Reply.HeartbeatAck(List.of(), List.of());
  }

  private static long openSession(InetSocketAddress node) throws Exception {
    try (RawClient client = new RawClient(node)) {
      client.hello();
      Reply reply =
          client.call(
              new Request.OpenSession(
                  SHORTEST_TTL_MILLIS,
                  SHORTEST_TTL_MILLIS,
                  new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0)));
      return ((Reply.SessionReady) reply).sessionId();
    }
  }
}
