package dev.tollgate.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.fake.FakeNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** I6: whatever happens to connections and leaders, an acknowledged write happened once. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExactlyOnceTest {
  private static final int SESSIONS = 4;
  private static final int DISTURBANCES = 60;

  private final long seed = Long.getLong("tollgate.seed", System.nanoTime());
  private final AtomicLong nextRow = new AtomicLong();

  @Test
  void writesUnderChaos() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(SESSIONS + 1);
    AtomicBoolean over = new AtomicBoolean();
    try (FakeCluster cluster = FakeCluster.start(3)) {
      ClusterRegistry registry = Client.registry();
      ClusterTarget target = Client.target(cluster.node(0).address());
      try (ClusterSession session = open(registry, target)) {
        Client.run(session, "CREATE TABLE T(ID BIGINT PRIMARY KEY)");
      }
      cluster.executed().clear();
      cluster.received().clear();
      List<Future<Long>> writers = new ArrayList<>();
      for (int i = 0; i < SESSIONS; i++) {
        writers.add(threads.submit(() -> write(registry, target, over)));
      }
      try {
        disturb(cluster);
      } finally {
        over.set(true);
      }
      long acknowledged = 0;
      for (Future<Long> writer : writers) {
        acknowledged += writer.get();
      }
      assertEquals(acknowledged, cluster.peek("SELECT COUNT(*) FROM T"), message());
      assertEquals(acknowledged, cluster.executed().size(), message());
      assertTrue(cluster.received().size() > acknowledged, "there was chaos");
    } finally {
      threads.shutdownNow();
    }
  }

  private String message() {
    return "tollgate.seed=" + seed;
  }

  private static ClusterSession open(ClusterRegistry registry, ClusterTarget target)
      throws TransportException {
    return registry.open(target, Client.settings(Duration.ofSeconds(20)), Duration.ZERO);
  }

  /** Each write is a row of its own: done twice, it would violate the primary key. */
  private long write(ClusterRegistry registry, ClusterTarget target, AtomicBoolean over)
      throws TransportException {
    long done = 0;
    try (ClusterSession session = open(registry, target)) {
      while (!over.get()) {
        done += Client.update(session, "INSERT INTO T VALUES(" + nextRow.incrementAndGet() + ")");
      }
    }
    return done;
  }

  private void disturb(FakeCluster cluster) throws Exception {
    Random random = new Random(seed);
    for (int i = 0; i < DISTURBANCES; i++) {
      FakeNode node = cluster.node(random.nextInt(3));
      switch (random.nextInt(6)) {
        case 0 -> node.dropBeforeExecuting(1);
        case 1 -> node.dropAfterExecuting(1);
        case 2 -> node.breakConnections();
        case 3, 4 -> cluster.lead(random.nextInt(4) == 0 ? null : node);
        default -> {
          node.stop();
          cluster.lead(cluster.node(random.nextInt(3)));
          Thread.sleep(random.nextInt(20));
          node.start();
        }
      }
      Thread.sleep(random.nextInt(60));
    }
    cluster.lead(cluster.node(0));
  }
}
