package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.Fence;
import dev.tollgate.lock.StaleTokenException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The row of a lock in a database that knows nothing of the lock. */
@Timeout(60)
abstract class FenceContract {
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private Connection first;
  private Connection second;

  abstract Connection connect() throws SQLException;

  /** How many statements wait for a row or a table. */
  abstract long waiting(Connection connection) throws SQLException;

  @BeforeEach
  void begin() throws SQLException {
    first = connect();
    second = connect();
    execute(first, "DROP TABLE IF EXISTS tollgate_fence");
    first.setAutoCommit(false);
    second.setAutoCommit(false);
  }

  @AfterEach
  void end() throws SQLException {
    threads.shutdownNow();
    first.close();
    second.close();
  }

  private static long token(Connection connection) throws SQLException {
    return number(connection, "SELECT token FROM tollgate_fence WHERE name = 'job'");
  }

  private static long number(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  private static void execute(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  @Test
  void laterHolderPassesAndFormerOneIsRefused() throws Exception {
    Fence.guard(first, "job", 7);
    first.commit();
    Fence.guard(first, "job", 7);
    first.commit();
    Fence.guard(second, "job", 8);
    second.commit();
    StaleTokenException stale =
        assertThrows(StaleTokenException.class, () -> Fence.guard(first, "job", 7));
    assertEquals("23T01", stale.getSQLState());
    assertTrue(stale.getMessage().contains("token 7 is stale"), stale.getMessage());
    first.rollback();
    Fence.guard(first, "another", 7);
    first.commit();
    assertEquals(8, token(first));
  }

  @Test
  void transactionThatIsRolledBackRaisesNothing() throws Exception {
    Fence.guard(first, "job", 7);
    first.commit();
    Fence.guard(second, "job", 8);
    second.rollback();
    Fence.guard(first, "job", 7);
    first.commit();
    assertEquals(7, token(first));
  }

  @Test
  void laterHolderWaitsForTheOpenTransactionOfTheFormerOne() throws Exception {
    Fence.guard(first, "job", 7);
    first.commit();
    Fence.guard(first, "job", 7);
    Future<?> later =
        threads.submit(
            () -> {
              Fence.guard(second, "job", 8);
              second.commit();
              return null;
            });
    try (Connection watcher = connect()) {
      await().atMost(Duration.ofSeconds(30)).until(() -> waiting(watcher) > 0);
      assertFalse(later.isDone());
    }
    first.commit();
    later.get(30, TimeUnit.SECONDS);
    assertThrows(StaleTokenException.class, () -> Fence.guard(first, "job", 7));
  }

  @Test
  void formerHolderThatWaitedForALaterOneIsRefused() throws Exception {
    Fence.guard(first, "job", 7);
    first.commit();
    Fence.guard(second, "job", 8);
    Future<StaleTokenException> former =
        threads.submit(
            () -> assertThrows(StaleTokenException.class, () -> Fence.guard(first, "job", 7)));
    try (Connection watcher = connect()) {
      await().atMost(Duration.ofSeconds(30)).until(() -> waiting(watcher) > 0);
    }
    second.commit();
    former.get(30, TimeUnit.SECONDS);
  }

  /** At the isolation that the database has by default. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void laterHolderReadsWhatTheFormerOneHasWrittenWhileItWaited(boolean rowIsThere)
      throws Exception {
    Fence.guard(first, rowIsThere ? "job" : "another", 6);
    execute(first, "DROP TABLE IF EXISTS counter", "CREATE TABLE counter(n INT)");
    execute(first, "INSERT INTO counter VALUES (0)");
    first.commit();
    Fence.guard(first, "job", 7);
    execute(first, "UPDATE counter SET n = n + 1");
    Future<Long> later =
        threads.submit(
            () -> {
              Fence.guard(second, "job", 8);
              return number(second, "SELECT n FROM counter");
            });
    try (Connection watcher = connect()) {
      await().atMost(Duration.ofSeconds(30)).until(() -> waiting(watcher) > 0);
    }
    first.commit();
    assertEquals(1, later.get(30, TimeUnit.SECONDS));
    second.rollback();
    execute(first, "DROP TABLE counter");
    first.commit();
  }

  @Test
  void connectionInAutocommitIsRefused() throws Exception {
    first.setAutoCommit(true);
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> Fence.guard(first, "job", 7));
    assertTrue(refused.getMessage().contains("setAutoCommit(false)"), refused.getMessage());
  }

  /** Where an update that finds no row locks the gap, each would wait for the gap of another. */
  @Test
  void firstHoldersOfALockDoNotRollEachOtherBack() throws Exception {
    Fence.guard(first, "earlier", 1);
    first.commit();
    for (int i = 0; i < 20; i++) {
      String lock = "job" + i;
      CyclicBarrier begin = new CyclicBarrier(3);
      List<Callable<Void>> holders = new ArrayList<>();
      for (int holder = 0; holder < begin.getParties(); holder++) {
        holders.add(
            () -> {
              try (Connection connection = connect()) {
                connection.setAutoCommit(false);
                begin.await(30, TimeUnit.SECONDS);
                Fence.guard(connection, lock, 5);
                connection.commit();
              }
              return null;
            });
      }
      for (Future<Void> holder : threads.invokeAll(holders)) {
        holder.get();
      }
    }
    assertEquals(21, number(first, "SELECT COUNT(*) FROM tollgate_fence"));
  }

  @Test
  void holdersOfSeveralLocksMakeTheTableAtTheSameTime() throws Exception {
    List<Callable<Void>> holders = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      String lock = "job" + i / 2;
      holders.add(
          () -> {
            try (Connection connection = connect()) {
              connection.setAutoCommit(false);
              Fence.guard(connection, lock, 5);
              connection.commit();
            }
            return null;
          });
    }
    for (Future<Void> holder : threads.invokeAll(holders)) {
      holder.get();
    }
    try (Statement statement = first.createStatement();
        ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM tollgate_fence")) {
      row.next();
      assertEquals(3, row.getInt(1));
    }
  }
}
