package dev.tollgate.samples.hikari;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import dev.tollgate.samples.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** More threads than connections, and locks that belong to neither. */
@Timeout(120)
class ThirtyTwoThreadsTest {
  private static final int THREADS = 32;
  private static final int CONNECTIONS = 10;
  private static final int ROUNDS = 25;
  private static final Duration TTL = Duration.ofSeconds(30);

  @RegisterExtension final TestDatabase node = new TestDatabase();
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
  private HikariDataSource pool;

  @BeforeEach
  void open() throws SQLException {
    pool = NightlyReport.pool(node.url(), CONNECTIONS);
    node.ask("CREATE TABLE account(id INT PRIMARY KEY, total BIGINT NOT NULL)");
    node.ask("CREATE TABLE entry(id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, thread INT)");
    node.ask("INSERT INTO account SELECT X, 0 FROM SYSTEM_RANGE(0, 3) ORDER BY X");
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    pool.close();
  }

  private interface Work {
    void of(int thread) throws SQLException, InterruptedException;
  }

  private void inAllThreads(Work work) throws Exception {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int thread = i;
      Supplier<Void> rounds =
          () -> {
            try {
              for (int round = 0; round < ROUNDS; round++) {
                work.of(thread);
              }
              return null;
            } catch (SQLException e) {
              throw new IllegalStateException(e.getSQLState() + " in thread " + thread, e);
            } catch (InterruptedException e) {
              throw new IllegalStateException("thread " + thread, e);
            }
          };
      all.add(CompletableFuture.supplyAsync(rounds, threads));
    }
    CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).get(110, TimeUnit.SECONDS);
  }

  @Test
  void statementsShareThePool() throws Exception {
    inAllThreads(
        thread -> {
          try (Connection connection = pool.getConnection();
              PreparedStatement insert =
                  connection.prepareStatement("INSERT INTO entry(thread) VALUES (?)");
              PreparedStatement update =
                  connection.prepareStatement(
                      "UPDATE account SET total = total + 1 WHERE id = ?")) {
            insert.setInt(1, thread);
            assertEquals(1, insert.executeUpdate());
            update.setInt(1, thread % 4);
            assertEquals(1, update.executeUpdate());
          }
        });
    assertEquals(String.valueOf(THREADS * ROUNDS), node.ask("SELECT SUM(total) FROM account"));
    assertEquals(String.valueOf(THREADS * ROUNDS), node.ask("SELECT MAX(id) FROM entry"));
    nothingIsLeft();
  }

  @Test
  void locksOfExplicitLeasesExcludeEachOtherAcrossConnections() throws Exception {
    List<AtomicInteger> inside = List.of(new AtomicInteger(), new AtomicInteger());
    List<AtomicLong> last = List.of(new AtomicLong(), new AtomicLong());
    AtomicInteger entered = new AtomicInteger();
    // short: who stands in line occupies a connection that the holder may need
    Duration wait = Duration.ofMillis(5);
    LockClient locks = LockClient.of(pool);
    inAllThreads(
        thread -> {
          int which = thread % 2;
          LockOptions options =
              LockOptions.DEFAULT.ttl(TTL).waitFor(wait).owner("thread " + thread);
          var lock = locks.tryAcquire("lock-" + which, options);
          if (lock.isPresent()) {
            try (HeldLock held = lock.get()) {
              assertEquals(1, inside.get(which).incrementAndGet());
              assertTrue(held.token() > last.get(which).getAndSet(held.token()));
              fencedUpdate(which, held.token());
              entered.incrementAndGet();
              inside.get(which).decrementAndGet();
            }
          }
        });
    locks.close();
    System.out.println(
        "HikariCP: " + entered + " of " + THREADS * ROUNDS + " attempts got their lock");
    assertTrue(entered.get() >= THREADS, "only " + entered);
    assertEquals(String.valueOf(entered), node.ask("SELECT SUM(total) FROM account"));
    nothingIsLeft();
  }

  private void fencedUpdate(int which, long token) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement update =
            connection.prepareStatement(
                "UPDATE account SET total = total + 1 WHERE id = ? FENCED BY LOCK '"
                    + ("lock-" + which)
                    + "' TOKEN ?")) {
      update.setInt(1, which);
      update.setLong(2, token);
      assertEquals(1, update.executeUpdate());
    }
  }

  private void nothingIsLeft() throws SQLException {
    HikariPoolMXBean state = pool.getHikariPoolMXBean();
    // a renewal that had begun when its lock was released may still have one
    await().until(() -> state.getActiveConnections() == 0);
    assertEquals(0, state.getThreadsAwaitingConnection());
    assertTrue(state.getTotalConnections() <= CONNECTIONS);
    assertEquals("0", node.ask("SELECT COUNT(*) FROM tollgate.locks"));
    assertEquals("0", node.ask("SELECT COUNT(*) FROM tollgate.lock_waiters"));
    assertEquals("0", node.ask("SELECT COUNT(*) FROM tollgate.leases WHERE NOT connection_own"));
    pool.close();
    assertEquals("1", node.ask("SELECT COUNT(*) FROM tollgate.sessions"), "the test's own");
  }
}
