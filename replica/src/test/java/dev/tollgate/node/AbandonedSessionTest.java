package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a connection leaves behind that its client has given up without a goodbye. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AbandonedSessionTest {
  /** Long before the session expires, which takes a minute. */
  private static final Duration SOON = Duration.ofSeconds(10);

  private Node node;
  private Connection holder;
  private Connection abandoned;

  @BeforeEach
  void open() throws Exception {
    node = new Node(LoopbackSettings.of("abandoned", null));
    node.start();
    assertTrue(node.awaitLeadership(Duration.ofSeconds(20)));
    holder = connect();
    execute(holder, "CREATE TABLE T(ID INT PRIMARY KEY)");
    execute(holder, "INSERT INTO T VALUES (1)");
    abandoned = connect();
  }

  @AfterEach
  void close() throws Exception {
    holder.close();
    abandoned.close();
    node.close();
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort());
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private long number(String sql) throws SQLException {
    try (Statement statement = holder.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  private static ConditionFactory soon() {
    return await().atMost(SOON);
  }

  private void awaitSessions(long sessions) {
    soon().until(() -> number("SELECT COUNT(*) FROM TOLLGATE.SESSIONS") == sessions);
  }

  /** Waits for a lock, on the connection that is abandoned; returns how that ends. */
  private CompletableFuture<String> inLine() throws Exception {
    execute(holder, "SELECT acquire_lock('job')");
    CompletableFuture<String> end =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                execute(abandoned, "SELECT acquire_lock('job', 0, 60000)");
                return "granted";
              } catch (SQLException e) {
                return e.getSQLState();
              }
            });
    soon().until(() -> waiters() == 1 || end.isDone());
    return end;
  }

  private long waiters() throws SQLException {
    return number("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS");
  }

  /** The lock goes to nobody: had the abandoned session got it, it would keep it for 15 s. */
  private void assertNeverGranted(CompletableFuture<String> end) throws Exception {
    assertEquals("08007", end.get(20, TimeUnit.SECONDS));
    soon().until(() -> waiters() == 0);
    execute(holder, "SELECT release_lock('job')");
    assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    awaitSessions(1);
  }

  @Test
  void waiterWhoseConnectionIsAbortedLeavesTheLine() throws Exception {
    CompletableFuture<String> end = inLine();
    abandoned.abort(Runnable::run);
    assertNeverGranted(end);
  }

  @Test
  void waiterAfterItsNetworkTimeoutLeavesTheLine() throws Exception {
    abandoned.setNetworkTimeout(Runnable::run, 2_000);
    assertNeverGranted(inLine());
  }

  /** Nobody renews it for that connection, and it lives on. */
  @Test
  void waiterUnderALeaseOfItsOwnLeavesTheLine() throws Exception {
    execute(holder, "SELECT acquire_lock('job')");
    long lease = number("SELECT create_lease(60000)");
    CompletableFuture<Void> end =
        CompletableFuture.runAsync(
            () ->
                assertThrows(
                    SQLException.class,
                    () -> execute(abandoned, "SELECT acquire_lock('job', " + lease + ", 60000)")));
    soon().until(() -> waiters() == 1);
    abandoned.abort(Runnable::run);
    end.get(20, TimeUnit.SECONDS);
    soon().until(() -> waiters() == 0);
    execute(holder, "SELECT release_lock('job')");
    assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
  }

  @Test
  void rowsOfAnAbortedConnectionAreFree() throws Exception {
    abandoned.setAutoCommit(false);
    execute(abandoned, "UPDATE T SET ID = 2");
    abandoned.abort(Runnable::run);
    assertTrue(abandoned.isClosed());
    awaitSessions(1);
    execute(holder, "UPDATE T SET ID = 3");
  }

  @Test
  void locksOfAnAbortedConnectionAreReleasedAsAfterClose() throws Exception {
    execute(abandoned, "SELECT acquire_lock('own')");
    abandoned.abort(Runnable::run);
    soon().until(() -> number("SELECT COUNT(*) FROM TOLLGATE.LOCKS") == 0);
  }

  @Test
  void manyAreAbandonedAtOnce() throws Exception {
    for (int i = 0; i < 20; i++) {
      connect().abort(Runnable::run);
    }
    abandoned.abort(Runnable::run);
    awaitSessions(1);
  }

  @Test
  void lastConnectionOfAProcessIsTold() throws Exception {
    holder.close();
    abandoned.abort(Runnable::run);
    holder = connect();
    assertFalse(holder.isClosed());
    awaitSessions(1);
  }
}
