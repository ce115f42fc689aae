package dev.tollgate.shedlock;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.node.LoopbackSettings;
import dev.tollgate.node.Node;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A cluster that does not answer is an error, and not a lock that is busy; on a pool. */
@Timeout(60)
class UnreachableClusterTest {
  @Test
  void lockAndExtensionFailAndUnlockDoesNot() throws Exception {
    Node node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    try (HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(
          "jdbc:tollgate://127.0.0.1:"
              + node.listenAddress().getPort()
              + "/?failoverTimeout=300ms&connectTimeout=300ms");
      pool.setConnectionTimeout(500);
      try (TollgateLockProvider provider = new TollgateLockProvider(pool)) {
        SimpleLock lock = lock(provider);
        node.close();
        LockException unanswered = assertThrows(LockException.class, () -> lock(provider));
        assertTrue(unanswered.getMessage().contains("lock 'job'"), unanswered.getMessage());
        AtomicBoolean ran = new AtomicBoolean();
        assertThrows(
            LockException.class,
            () ->
                new DefaultLockingTaskExecutor(provider)
                    .executeWithLock(
                        (Runnable) () -> ran.set(true),
                        LockProviderContract.job(LockProviderContract.LONG, Duration.ZERO)));
        assertFalse(ran.get());
        assertThrows(
            LockException.class, () -> lock.extend(LockProviderContract.LONG, Duration.ZERO));
        lock.unlock();
      }
    }
  }

  private static SimpleLock lock(TollgateLockProvider provider) {
    return provider
        .lock(LockProviderContract.job(LockProviderContract.LONG, LockProviderContract.BRIEF))
        .orElseThrow();
  }
}
