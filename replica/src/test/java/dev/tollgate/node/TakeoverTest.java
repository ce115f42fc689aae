package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.fail;

import dev.tollgate.node.client.ClientLimits;
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
  private static final Duration LONGEST_WAIT = Duration.ofMillis(ClientLimits.TAKEOVER_MILLIS);

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

  @Test
  void sessionIsAttachedOnceTheNodeLeads() throws Exception {
    // a machine that stalls may let the longest wait end first, but not each time
    for (int attempt = 0; attempt < 5; attempt++) {
      if (isAttachedBeforeTheWaitEnds()) {
        return;
      }
    }
    fail("the session was never attached before the longest wait was over");
  }

  private boolean isAttachedBeforeTheWaitEnds() throws Exception {
    String leader = cluster.leader();
    String successor = cluster.follower();
    try (RawClient first = cluster.client(leader)) {
      Reply.SessionReady session = open(first);
      Request.AttachSession attach =
          new Request.AttachSession(session.sessionId(), session.secret(), true, options());
      try (RawClient early = cluster.client(successor)) {
        assertInstanceOf(Reply.NotLeader.class, early.call(attach), "it follows");
      }
      try (RawClient next = cluster.client(successor)) {
        long sentNanos;
        try (BusyApply busy = new BusyApply(cluster.nodes().get(successor).replica())) {
          handOver(first, successor);
          sentNanos = System.nanoTime();
          next.write(attach);
        }
        Reply reply = next.receive();
        if (System.nanoTime() - sentNanos >= LONGEST_WAIT.toNanos()) {
          return false;
        }
        assertEquals(session, reply);
        return true;
      }
    }
  }

  /** The successor lacks one entry when it is elected. */
  private static void handOver(RawClient client, String successor) throws Exception {
    String table = "CREATE TABLE IF NOT EXISTS T(ID INT)";
    assertInstanceOf(Reply.Result.class, client.call(RawClient.execute(1, table)));
    String transfer = "CALL transfer_leadership('" + successor + "')";
    assertInstanceOf(Reply.Result.class, client.call(RawClient.execute(2, transfer)));
  }

  @Test
  void waitEndsWithoutALeader() throws Exception {
    String leader = cluster.leader();
    String successor = cluster.follower();
    try (RawClient first = cluster.client(leader);
        RawClient next = cluster.client(successor)) {
      Reply.SessionReady session = open(first);
      try (BusyApply busy = new BusyApply(cluster.nodes().get(successor).replica())) {
        handOver(first, successor);
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
