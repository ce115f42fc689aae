package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** What the lock API is asked for and cannot do is refused, with what to do instead. */
@Timeout(60)
class LockArgumentsTest {
  private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

  private final LockClient client = LockClient.connect("jdbc:tollgate:mem:" + UUID.randomUUID());

  @AfterEach
  void close() {
    client.close();
  }

  private static void refused(String message, Executable request) {
    String said = assertThrows(IllegalArgumentException.class, request).getMessage();
    assertTrue(said.contains(message), said);
  }

  @Test
  void acquireIsNotAskedToWaitForSomeTime() throws Exception {
    for (Duration wait : new Duration[] {Duration.ofSeconds(5), Duration.ZERO, FOREVER}) {
      LockOptions options = LockOptions.DEFAULT.waitFor(wait).owner("a");
      refused("call tryAcquire(name, options)", () -> client.acquire("job", options));
      assertTrue(client.holder("job").isEmpty());
      try (HeldLock lock = client.tryAcquire("job", options).orElseThrow()) {
        assertTrue(lock.isHeld());
      }
    }
    client.acquire("job", LockOptions.DEFAULT.owner("a")).close();
    FencedLock lock = client.asLock("job", LockOptions.DEFAULT.waitFor(Duration.ofSeconds(5)));
    lock.lock();
    try {
      assertTrue(lock.isHeldByCurrentThread());
    } finally {
      lock.unlock();
    }
  }

  @Test
  void leaseThatWouldNeverEndIsRefusedByItsBounds() throws Exception {
    String bounds = "from 100 ms to 24 h";
    refused(bounds, () -> LockOptions.DEFAULT.ttl(FOREVER));
    refused(bounds, () -> LockOptions.DEFAULT.fixedTerm(FOREVER));
    refused(bounds, () -> client.newLease(FOREVER));
    refused(bounds, () -> client.elect("e", "a", FOREVER, term -> {}));
    try (HeldLock lock = client.acquire("job")) {
      refused(bounds, () -> lock.extend(FOREVER));
      assertTrue(lock.isHeld());
    }
  }

  @Test
  void lockThatWouldBeKeptForeverIsRefusedAndStaysHeld() throws Exception {
    for (Duration keep : new Duration[] {FOREVER, Duration.ofHours(24).plusMillis(1)}) {
      try (HeldLock lock = client.acquire("job")) {
        refused("from zero to 24 h", () -> lock.releaseAfter(keep));
        lock.confirm();
      }
    }
  }

  @Test
  void waitThatNobodyOutlivesIsAWait() throws Exception {
    client.tryAcquire("job", FOREVER).orElseThrow().close();
    client.tryAcquire("job", LockOptions.DEFAULT.waitFor(FOREVER)).orElseThrow().close();
    FencedLock lock = client.asLock("job");
    assertTrue(lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS));
    lock.unlock();
    try (HeldLock held = client.acquire("job")) {
      assertFalse(lock.tryLock(Long.MIN_VALUE, TimeUnit.DAYS));
      assertEquals("job", held.name());
    }
  }
}
