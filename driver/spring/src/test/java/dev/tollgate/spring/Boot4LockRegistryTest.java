package dev.tollgate.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** With Spring Integration 7. */
@EnumSource(Transport.class)
class Boot4LockRegistryTest extends LockRegistryContract {
  @Override
  Subject registry(LockClient client, LockOptions options, String prefix) {
    TollgateLockRegistry registry = new TollgateLockRegistry(client, options, prefix);
    return new Subject() {
      @Override
      public RegistryLock obtain(Object key) {
        return (RegistryLock) registry.obtain(key);
      }

      @Override
      public void renewLock(Object key) {
        registry.renewLock(key);
      }

      @Override
      public void renewLock(Object key, Duration ttl) {
        registry.renewLock(key, ttl);
      }

      @Override
      public void expireUnusedOlderThan(long ageMillis) {
        registry.expireUnusedOlderThan(ageMillis);
      }
    };
  }

  @Test
  void methodsOfTheInterfacesReachTheToken() throws Exception {
    String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    try (Connection keepsTheNode = DriverManager.getConnection(url);
        LockClient client = LockClient.connect(url);
        LockClient elsewhere = LockClient.connect(url)) {
      LockRegistry<DistributedLock> registry = new TollgateLockRegistry(client);
      LockRegistry<DistributedLock> other = new TollgateLockRegistry(elsewhere);
      long token =
          registry.executeLocked(
              "a",
              () -> {
                assertFalse(other.obtain("a").tryLock());
                assertThrows(
                    TimeoutException.class,
                    () -> other.executeLocked("a", Duration.ofMillis(20), () -> {}));
                return ((FencedLock) registry.obtain("a")).held().token();
              });
      DistributedLock lock = other.obtain("a");
      lock.lock(Duration.ofSeconds(9));
      try {
        assertEquals(Duration.ofSeconds(9), elsewhereLease(lock), "after token " + token);
      } finally {
        lock.unlock();
      }
      assertFalse(keepsTheNode.isClosed());
    }
  }

  private static Duration elsewhereLease(DistributedLock lock) {
    return ((TollgateLock) lock).held().lease().ttl();
  }
}
