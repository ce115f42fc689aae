package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockLimits;
import dev.tollgate.lock.LockObserver;
import dev.tollgate.lock.LockOptions;
import dev.tollgate.lock.Watch;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application's listener that does not return holds up nothing but itself. */
@Timeout(120)
class BlockedListenersTest {
  private static final int BLOCKED = 50;

  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final CountDownLatch free = new CountDownLatch(1);
  private final CountDownLatch entered = new CountDownLatch(BLOCKED);
  private LockClient client;
  private Connection administrator;

  @BeforeEach
  void open() throws SQLException {
    client = LockClient.connect(url);
    administrator = DriverManager.getConnection(url);
  }

  @AfterEach
  void close() throws SQLException {
    free.countDown();
    client.close();
    administrator.close();
  }

  private void force(String lock) throws SQLException {
    try (Statement statement = administrator.createStatement()) {
      statement.execute("SELECT force_release_lock('" + lock + "')");
    }
  }

  private void block() {
    entered.countDown();
    try {
      free.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void happens(CountDownLatch news) throws InterruptedException {
    assertTrue(news.await(20, TimeUnit.SECONDS), "nothing was told");
  }

  /** Each of them has lost its lock, and its listener does not return. */
  private void blockListenersOfLosses() throws Exception {
    for (int i = 0; i < BLOCKED; i++) {
      client.acquire("blocked " + i).lease().onLost(lost -> block());
    }
    for (int i = 0; i < BLOCKED; i++) {
      force("blocked " + i);
    }
    happens(entered);
  }

  @Test
  void listenersOfOtherLocksAreTold() throws Exception {
    HeldLock lock = client.acquire("job");
    CountDownLatch told = new CountDownLatch(1);
    lock.lease().onLost(lost -> told.countDown());
    blockListenersOfLosses();
    force("job");
    happens(told);
  }

  @Test
  @SuppressWarnings("try") // the watch is there to be closed
  void locksAreRenewedAndElectionsGoOn() throws Exception {
    HeldLock renewed = client.acquire("renewed", LockOptions.DEFAULT.ttl(Duration.ofMillis(600)));
    blockListenersOfLosses();
    BlockingQueue<Leadership> terms = new LinkedBlockingQueue<>();
    CountDownLatch holderIsKnown = new CountDownLatch(1);
    try (Watch watch =
        client.onHolderChange(
            "e", leader -> leader.ifPresent(known -> holderIsKnown.countDown()))) {
      client.elect(
          "e",
          "a",
          term -> {
            terms.add(term);
            new CountDownLatch(1).await();
          });
      Leadership term = terms.poll(20, TimeUnit.SECONDS);
      CountDownLatch ended = new CountDownLatch(1);
      var unused = term.ended().thenRun(ended::countDown);
      happens(holderIsKnown);
      force("e");
      happens(ended);
    }
    Lease lease = client.newLease(Duration.ofMillis(600));
    lease.extend();
    renewed.confirm();
  }

  @Test
  void oneBlockedObserverHoldsNoOtherUp() throws Exception {
    CountDownLatch told = new CountDownLatch(2);
    client.addObserver(new Losses(this::block));
    client.addObserver(new Losses(told::countDown));
    client.acquire("a");
    client.acquire("b");
    force("a");
    force("b");
    happens(told);
  }

  private record Losses(Runnable told) implements LockObserver {
    @Override
    public void requestEnded(Outcome outcome, Duration took) {}

    @Override
    public void leaseLost(Lease lease) {
      told.run();
    }
  }

  @Test
  void lanesBeyondTheLimitAreRefusedByItsName() throws Exception {
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < LockLimits.LISTENER_LANES; i++) {
      Lease lease = client.newLease(Duration.ofMinutes(10));
      lease.onLost(lost -> {});
      lease.onLost(lost -> {});
      leases.add(lease);
    }
    Lease another = client.newLease(Duration.ofMinutes(10));
    LockException refused = assertThrows(LockException.class, () -> another.onLost(lost -> {}));
    assertTrue(refused.getMessage().contains("LockLimits.LISTENER_LANES"), refused.getMessage());
    assertTrue(another.isAlive());
    leases.get(0).close();
    another.onLost(lost -> {});
    assertEquals(LockLimits.LISTENER_LANES + 1, leases.size() + 1);
  }
}
