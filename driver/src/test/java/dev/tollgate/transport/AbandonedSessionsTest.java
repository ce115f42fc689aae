package dev.tollgate.transport;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Request;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AbandonedSessionsTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private final AtomicBoolean pointless = new AtomicBoolean();
  private FakeCluster cluster;
  private Cluster known;
  private AbandonedSessions abandoned;

  @BeforeEach
  void start() throws Exception {
    cluster = FakeCluster.start(2);
    Timekeeping environment = new Timekeeping(System::nanoTime, Client.QUICK);
    known =
        new Cluster(
            Client.target(cluster.node(0).address()), environment, List::of, new SaltedPasswords());
    abandoned = new AbandonedSessions("test", environment, pointless::get);
  }

  @AfterEach
  void stop() throws Exception {
    pointless.set(true);
    cluster.close();
  }

  private void abandon(long session, Duration patience) {
    Request.SessionOptions options =
        new Request.SessionOptions(ReadConsistency.LINEARIZABLE, /* lockWaitMillis= */ 0);
    abandoned.add(
        known.finder(Client.settings(LONG)),
        new Request.AttachSession(session, /* secret= */ 1, /* leaderOnly= */ true, options),
        patience);
  }

  @Test
  void sessionsThatWaitHaveAMaximum() {
    cluster.node(0).fallSilent(true);
    for (int i = 0; i < AbandonedSessions.MOST + 10; i++) {
      abandon(i + 1, LONG);
    }
    assertTrue(abandoned.waiting() <= AbandonedSessions.MOST, abandoned.waiting() + " wait");
  }

  @Test
  void leaderIsNotLookedForLongerThanAllowed() {
    cluster.node(0).fallSilent(true);
    for (int i = 0; i < 100; i++) {
      abandon(i + 1, Duration.ofMillis(200));
    }
    await().until(() -> abandoned.waiting() == 0);
  }

  @Test
  void sessionsThatTheClusterDoesNotKnowAreForgotten() {
    for (int i = 0; i < 50; i++) {
      abandon(1_000_000 + i, LONG);
    }
    await().until(() -> abandoned.waiting() == 0);
    await().until(() -> cluster.node(0).openConnections() == 0);
    assertEquals(0, cluster.openSessions());
  }
}
