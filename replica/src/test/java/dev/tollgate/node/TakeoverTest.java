package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients meet the next leader while it takes leadership over: three nodes of this process. */
@Timeout(120)
@SuppressWarnings("try")
class TakeoverTest {
  private static final Duration LONGEST_WAIT = Duration.ofMillis(500);

  @TempDir Path directory;

  private LocalCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = LocalCluster.started(directory, 3);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private RawClient clientOf(String node) throws Exception {
    RawClient client = new RawClient(cluster.clientAddress(node));
    client.hello();
    return client;
  }

  @Test
  void sessionIsAttachedOnceTheNodeLeads() throws Exception {
    String leader = cluster.leader();
    String successor = cluster.follower();
    try (RawClient first = clientOf(leader)) {
      Reply.SessionReady session = open(first);
      Request.AttachSession attach =
          new Request.AttachSession(session.sessionId(), session.secret(), true, options());
      try (RawClient early = clientOf(successor)) {
        assertInstanceOf(Reply.NotLeader.class, early.call(attach), "it follows");
      }
      Reply reply;
      long waitedNanos;
      try (RawClient next = clientOf(successor)) {
        try (BusyApply busy = new BusyApply(cluster.nodes().get(successor).replica())) {
          assertInstanceOf(
              Reply.Result.class, first.call(RawClient.execute(1, "CREATE TABLE T(ID INT)")));
          assertInstanceOf(
              Reply.Result.class,
              first.call(RawClient.execute(2, "CALL transfer_leadership('" + successor + "')")));
          waitedNanos = -System.nanoTime();
          next.write(attach);
        }
        reply = next.receive();
        waitedNanos += System.nanoTime();
      }
      if (waitedNanos < LONGEST_WAIT.toNanos()) {
        assertEquals(session, reply);
      } else {
        // this machine stalled
        assertTrue(session.equals(reply) || reply instanceof Reply.NotLeader, reply.toString());
      }
    }
  }

  @Test
  void waitEndsWithoutALeader() throws Exception {
    String leader = cluster.leader();
    String successor = cluster.follower();
    try (RawClient first = clientOf(leader);
        RawClient next = clientOf(successor)) {
      Reply.SessionReady session = open(first);
      try (BusyApply busy = new BusyApply(cluster.nodes().get(successor).replica())) {
        assertInstanceOf(
            Reply.Result.class, first.call(RawClient.execute(1, "CREATE TABLE T(ID INT)")));
        assertInstanceOf(
            Reply.Result.class,
            first.call(RawClient.execute(2, "CALL transfer_leadership('" + successor + "')")));
        Request.AttachSession attach =
            new Request.AttachSession(session.sessionId(), session.secret(), true, options());
        assertInstanceOf(Reply.NotLeader.class, next.call(attach));
      }
    }
  }

  private static Reply.SessionReady open(RawClient client) throws Exception {
    return assertInstanceOf(
        Reply.SessionReady.class, client.call(new Request.OpenSession(60_000, 60_000, options())));
  }

  private static Request.SessionOptions options() {
    return new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0);
  }
}
