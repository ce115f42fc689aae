package dev.tollgate.micrometer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LeaderElection;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockLostException;
import dev.tollgate.lock.LockOptions;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TollgateLockMetricsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  /** Heartbeats find the loss of such a lease soon. */
  private static final Duration BRIEF = Duration.ofSeconds(1);

  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private LockClient client;
  private Connection operator;

  @BeforeEach
  void bind() throws SQLException {
    operator = DriverManager.getConnection(url);
    client = LockClient.connect(url);
    new TollgateLockMetrics(client).bindTo(registry);
  }

  @AfterEach
  void close() throws SQLException {
    client.close();
    operator.close();
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = operator.createStatement()) {
      statement.execute(sql);
    }
  }

  private double gauge(String name) {
    return registry.get("tollgate.client." + name).gauge().value();
  }

  private Timer requests(String outcome) {
    return registry.get("tollgate.client.requests").tag("outcome", outcome).timer();
  }

  private double lost() {
    return registry.get("tollgate.client.leases.lost").counter().count();
  }

  @Test
  void everyMeterIsZeroAtFirst() {
    assertEquals(
        List.of(0.0, 0.0, 0.0, 0.0, 0.0),
        List.of(
            gauge("locks.held"),
            gauge("leases.alive"),
            gauge("requests.waiting"),
            gauge("elections.led"),
            lost()));
    for (String outcome : List.of("granted", "refused", "interrupted", "failed")) {
      assertEquals(0, requests(outcome).count(), outcome);
    }
  }

  @Test
  void locksAndLeasesAreCountedWhileTheyAreHeld() throws Exception {
    HeldLock alone = client.acquire("a");
    Lease lease = client.newLease(Duration.ofSeconds(30));
    HeldLock first = lease.tryAcquire("b").orElseThrow();
    HeldLock second = lease.tryAcquire("c").orElseThrow();
    assertEquals(3, gauge("locks.held"));
    assertEquals(2, gauge("leases.alive"));
    second.close();
    assertEquals(2, gauge("locks.held"));
    HeldLock moved = first.transferTo(client.newLease(Duration.ofSeconds(30)));
    assertEquals(2, gauge("locks.held"));
    assertEquals(3, gauge("leases.alive"));
    moved.close();
    alone.close();
    lease.close();
    assertEquals(0, gauge("locks.held"));
    assertEquals(1, gauge("leases.alive"));
    assertEquals(3, requests("granted").count());
  }

  @Test
  void refusedRequestTookItsWait() throws Exception {
    execute("SELECT acquire_lock('taken')");
    assertTrue(client.tryAcquire("taken").isEmpty());
    assertTrue(client.tryAcquire("taken", Duration.ofMillis(200)).isEmpty());
    assertEquals(2, requests("refused").count());
    assertTrue(requests("refused").max(TimeUnit.MILLISECONDS) >= 190);
    assertEquals(0, requests("granted").count());
    assertEquals(0, gauge("locks.held"));
  }

  @Test
  void waitingRequestIsSeenUntilItIsInterrupted() throws Exception {
    execute("SELECT acquire_lock('taken')");
    Thread waiting =
        new Thread(() -> assertThrows(InterruptedException.class, () -> client.acquire("taken")));
    waiting.start();
    await().atMost(DEADLINE).until(() -> gauge("requests.waiting") == 1);
    assertEquals(0, gauge("locks.held"));
    waiting.interrupt();
    waiting.join(DEADLINE.toMillis());
    assertEquals(1, requests("interrupted").count());
    await().atMost(DEADLINE).until(() -> gauge("requests.waiting") == 0);
  }

  @Test
  void requestUnderALostLeaseHasFailed() throws Exception {
    Lease lease = client.newLease(BRIEF);
    execute("SELECT revoke_lease(" + lease.id() + ")");
    await().atMost(DEADLINE).until(() -> lost() == 1);
    assertThrows(LockLostException.class, () -> lease.tryAcquire("job"));
    assertEquals(1, requests("failed").count());
  }

  @Test
  void lostLeaseIsCountedOnce() throws Exception {
    HeldLock lock = client.acquire("job", LockOptions.DEFAULT.ttl(BRIEF));
    execute("SELECT revoke_lease(" + lock.lease().id() + ")");
    await().atMost(DEADLINE).until(() -> lost() == 1);
    assertEquals(0, gauge("locks.held"));
    assertEquals(0, gauge("leases.alive"));
    lock.close();
    client.close();
    assertEquals(1, lost());
  }

  @Test
  void electionIsLedUntilItIsClosed() throws Exception {
    CountDownLatch led = new CountDownLatch(1);
    LeaderElection election =
        client.elect(
            "billing",
            "here",
            leadership -> {
              led.countDown();
              new CountDownLatch(1).await();
            });
    assertTrue(led.await(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    assertEquals(1, gauge("elections.led"));
    assertEquals(0, requests("granted").count());
    election.close();
    assertEquals(0, gauge("elections.led"));
  }

  @Test
  void closedClientHasNothing() throws Exception {
    client.acquire("left open").assertHeld();
    client.close();
    assertEquals(0, gauge("locks.held"));
    assertEquals(0, gauge("leases.alive"));
    assertThrows(IllegalStateException.class, () -> client.tryAcquire("again"));
    assertEquals(1, requests("failed").count());
  }
}
