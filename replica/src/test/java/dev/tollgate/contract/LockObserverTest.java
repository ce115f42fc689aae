package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockCounts;
import dev.tollgate.lock.LockLimits;
import dev.tollgate.lock.LockObserver;
import dev.tollgate.lock.LockObserver.Outcome;
import dev.tollgate.lock.LockOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What metrics stand on; TollgateLockMetricsTest has the numbers. */
@Timeout(60)
class LockObserverTest {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final LockClient client = LockClient.connect(url);
  private final List<Outcome> outcomes = new CopyOnWriteArrayList<>();
  private final List<Lease> lost = new CopyOnWriteArrayList<>();

  private final class Recorder implements LockObserver {
    @Override
    public void requestEnded(Outcome outcome, Duration took) {
      assertTrue(took.compareTo(Duration.ZERO) > 0);
      outcomes.add(outcome);
    }

    @Override
    public void leaseLost(Lease lease) {
      lost.add(lease);
    }
  }

  private static final class Faulty implements LockObserver {
    @Override
    public void requestEnded(Outcome outcome, Duration took) {
      throw new AssertionError("of the observer");
    }

    @Override
    public void leaseLost(Lease lease) {
      throw new IllegalStateException("of the observer");
    }
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void everyWayToAskIsToldOnce() throws Exception {
    client.addObserver(new Recorder());
    Lease lease = client.newLease(Duration.ofSeconds(30));
    assertTrue(client.tryAcquire("a").isPresent());
    assertTrue(client.tryAcquire("b", Duration.ofSeconds(1)).isPresent());
    assertTrue(client.acquire("c").isHeld());
    assertTrue(client.tryAcquireAll(List.of("d", "e"), LockOptions.DEFAULT).isPresent());
    assertTrue(lease.tryAcquire("f").isPresent());
    assertTrue(lease.tryAcquire("g", LockOptions.DEFAULT).isPresent());
    assertTrue(client.asLock("h").tryLock());
    assertEquals(Collections.nCopies(7, Outcome.GRANTED), outcomes);
    assertEquals(new LockCounts(6, 8, 0, 0), client.counts());
  }

  @Test
  void faultyObserverCostsNoLock() throws Exception {
    client.addObserver(new Faulty());
    client.addObserver(new Recorder());
    // heartbeats find the loss of such a lease soon
    HeldLock lock = client.acquire("job", LockOptions.DEFAULT.ttl(Duration.ofSeconds(1)));
    assertTrue(lock.isHeld());
    assertEquals(List.of(Outcome.GRANTED), outcomes);
    revoke(lock.lease().id());
    await().atMost(Duration.ofSeconds(30)).until(() -> lost.equals(List.of(lock.lease())));
    assertEquals(new LockCounts(0, 0, 0, 0), client.counts());
  }

  private void revoke(long lease) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT revoke_lease(" + lease + ")");
    }
  }

  @Test
  void observersHaveAMaximum() {
    for (int i = 0; i < LockLimits.LISTENERS; i++) {
      client.addObserver(new Recorder());
    }
    IllegalStateException e =
        assertThrows(IllegalStateException.class, () -> client.addObserver(new Recorder()));
    assertTrue(e.getMessage().contains("LockLimits.LISTENERS"), e.getMessage());
  }
}
