package dev.tollgate.spring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.ClusterProcesses;
import dev.tollgate.cluster.NodeProcess;
import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.LockClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.LockRegistry;

/** Three nodes in processes of their own, whose leader is killed while locks are held. */
@Tag("nightly")
@Timeout(300)
class LeaderKillTest {
  private static final int KILLS = 3;

  @Test
  void holderKeepsItsLockAndTheWaiterItsPlace() throws Exception {
    Path directory = Files.createTempDirectory(Files.createDirectories(Path.of("target")), "nodes");
    ExecutorService threads = Executors.newCachedThreadPool();
    try (ClusterProcesses cluster = new ClusterProcesses("spring", directory, 3);
        LockClient client = LockClient.connect(cluster.url(""));
        LockClient elsewhere = LockClient.connect(cluster.url(""))) {
      LockRegistry<?> registry = LeaderInitiatorTest.registry(client, Duration.ofSeconds(15));
      LockRegistry<?> other = LeaderInitiatorTest.registry(elsewhere, Duration.ofSeconds(15));
      LockRegistryLeaderInitiator initiator =
          new LockRegistryLeaderInitiator(registry, new DefaultCandidate("one", "election"));
      initiator.start();
      await().until(() -> initiator.getContext().isLeader());
      long term = client.holder("election").orElseThrow().token();
      long last = 0;
      for (int kill = 0; kill < KILLS; kill++) {
        FencedLock lock = (FencedLock) registry.obtain("a");
        assertTrue(lock.tryLock(60, TimeUnit.SECONDS));
        long token = lock.held().token();
        assertTrue(token > last);
        Future<Long> waiter = threads.submit(() -> takeAndRelease((FencedLock) other.obtain("a")));
        NodeProcess leader = cluster.leader();
        leader.kill();
        assertFalse(threads.submit(() -> other.obtain("a").tryLock()).get(60, TimeUnit.SECONDS));
        lock.held().confirm();
        assertEquals(token, lock.held().token());
        lock.unlock();
        last = waiter.get(60, TimeUnit.SECONDS);
        assertTrue(last > token);
        leader.startAndAwait();
      }
      assertTrue(initiator.getContext().isLeader());
      assertEquals(term, client.holder("election").orElseThrow().token());
      initiator.stop();
    } finally {
      threads.shutdownNow();
    }
  }

  private static long takeAndRelease(FencedLock lock) {
    lock.lock();
    try {
      return lock.held().token();
    } finally {
      lock.unlock();
    }
  }
}
