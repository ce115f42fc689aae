package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockLostException;
import dev.tollgate.lock.LockOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of a grant that its caller does not take, or of which nothing is known. */
@Timeout(60)
class GhostGrantTest {
  private static final LockOptions PATIENT = LockOptions.DEFAULT.waitFor(Duration.ofMinutes(5));

  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final FaultyPool pool = new FaultyPool(url);
  private final List<LockLostException> losses = new CopyOnWriteArrayList<>();
  private Connection connection;
  private LockClient client;
  private Lease lease;

  @BeforeEach
  void open() throws SQLException {
    connection = DriverManager.getConnection(url);
    client = LockClient.of(pool.dataSource());
    lease = client.newLease(Duration.ofMinutes(5), "ghost");
    lease.onLost(losses::add);
  }

  @AfterEach
  void close() throws SQLException {
    client.close();
    connection.close();
  }

  private long number(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  /**
   * Waits for a lock that is free, whose grant is on its way when the thread is interrupted.
   *
   * @param comes false if the grant never arrives
   */
  private void interruptBeforeTheGrantArrives(boolean comes) throws Exception {
    pool.holdAnswersTo("acquire_lock");
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    Thread waiter =
        new Thread(
            () -> {
              try {
                lease.tryAcquire("job", PATIENT);
                end.complete(null);
              } catch (InterruptedException | RuntimeException e) {
                end.complete(e);
              }
            });
    waiter.start();
    pool.awaitHeldAnswer();
    assertEquals(1, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"), "it is granted");
    waiter.interrupt();
    if (comes) {
      pool.letGo();
    }
    assertEquals(InterruptedException.class, end.get(30, TimeUnit.SECONDS).getClass());
  }

  @Test
  void grantThatComesAfterTheInterruptIsReleased() throws Exception {
    interruptBeforeTheGrantArrives(/* comes= */ true);
    assertEquals(
        0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"), "before the exception is thrown");
    assertTrue(lease.isAlive());
    assertTrue(lease.tryAcquire("job").isPresent());
    assertTrue(losses.isEmpty());
  }

  @Test
  void leaseIsGivenUpIfTheReleaseOfTheGrantFails() throws Exception {
    pool.loseAnswersTo("release_lock");
    interruptBeforeTheGrantArrives(/* comes= */ true);
    assertFalse(lease.isAlive());
    awaitTheEnd();
  }

  @Test
  void interruptEndsAWaitWhoseAnswerNeverComes() throws Exception {
    interruptBeforeTheGrantArrives(/* comes= */ false);
    assertFalse(lease.isAlive());
    awaitTheEnd();
  }

  private void awaitTheEnd() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                losses.size() == 1
                    && number("SELECT COUNT(*) FROM TOLLGATE.LOCKS") == 0
                    && number("SELECT COUNT(*) FROM TOLLGATE.LEASES") == 0);
  }

  @Test
  void leaseIsGivenUpIfItIsUnknownWhetherAWaitWasGranted() throws Exception {
    pool.loseAnswersTo("acquire_lock");
    LockException failed =
        assertThrows(LockException.class, () -> lease.tryAcquire("job", PATIENT));
    assertEquals("08007", failed.sqlState());
    assertThrows(LockLostException.class, lease::assertAlive);
    awaitTheEnd();
  }

  @Test
  void leaseIsGivenUpIfItIsUnknownWhetherALockWasGrantedAtOnce() throws Exception {
    pool.loseAnswersTo("acquire_lock");
    assertThrows(LockException.class, () -> lease.tryAcquire("job"));
    assertThrows(LockLostException.class, lease::assertAlive);
    awaitTheEnd();
  }

  @Test
  void leaseOfALockThatCannotBeReleasedIsGivenUp() throws Exception {
    var lock = lease.tryAcquire("job").orElseThrow();
    pool.loseAnswersTo("release_lock");
    lock.close();
    assertFalse(lease.isAlive());
    awaitTheEnd();
  }

  @Test
  void urlWhoseConnectionsShareNoNodeIsRefused() {
    assertThrows(
        IllegalArgumentException.class, () -> LockClient.connect("jdbc:tollgate:mem:?lease=3s"));
    assertThrows(IllegalArgumentException.class, () -> LockClient.connect("jdbc:h2:mem:x"));
  }
}
