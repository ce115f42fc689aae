package dev.tollgate.node;

import static dev.tollgate.node.TestSql.one;
import static dev.tollgate.node.TestSql.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.CapturedLines;
import dev.tollgate.node.slow.SlowLog;
import dev.tollgate.node.slow.SlowSettings;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The views of what is slow, at a node for which everything is. */
@Timeout(300)
class SlowTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Duration AT_ONCE = Duration.ofNanos(1);

  private final CapturedLines lines = new CapturedLines(SlowLog.class);
  private Node node;
  private Connection admin;

  @BeforeEach
  void start() throws Exception {
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withSlow(new SlowSettings(AT_ONCE, AT_ONCE, AT_ONCE, AT_ONCE)),
            new ConnectionSettings(100, DEADLINE, 0, 0, 64L << 20),
            TestUsers.administrator("ROOT", "root-password"));
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
    Awaitility.await()
        .atMost(DEADLINE)
        .ignoreExceptions()
        .until(
            () -> {
              admin = connect("root");
              return true;
            });
  }

  @AfterEach
  void stop() throws Exception {
    admin.close();
    node.close();
    lines.close();
  }

  private Connection connect(String user) throws SQLException {
    Properties properties = new Properties();
    properties.put("user", user);
    properties.put("password", user + "-password");
    properties.put("lockWait", "60s");
    properties.put("applicationName", "app of " + user);
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/", properties);
  }

  private String form(String like) throws SQLException {
    String form =
        one(admin, "SELECT MAX(FORM) FROM TOLLGATE.SLOW_STATEMENTS WHERE FORM LIKE '" + like + "'");
    assertNotNull(form, like);
    return form;
  }

  @Test
  void statementsAreShownWithoutTheirValues() throws Exception {
    run(admin, "CREATE TABLE t (id INT PRIMARY KEY, secret VARCHAR(20))");
    run(admin, "INSERT INTO t VALUES (4711, 'hunter2')");
    run(admin, "CREATE USER ann PASSWORD 'hunter2hunter2'");
    assertEquals("hunter2", one(admin, "SELECT secret FROM t WHERE id = 4711"));
    try (PreparedStatement update =
        admin.prepareStatement("UPDATE t SET secret = ? WHERE id = 4711")) {
      update.setString(1, "hunter2");
      update.executeUpdate();
    }
    try (Statement batch = admin.createStatement()) {
      batch.addBatch("INSERT INTO t VALUES (4712, 'hunter2')");
      batch.addBatch("UPDATE t SET secret = 'hunter2'");
      batch.executeBatch();
      batch.addBatch("INSERT INTO t VALUES (4713, 'it's hunter2')");
      batch.addBatch("UPDATE t SET secret = 'hunter2'");
      assertThrows(SQLException.class, batch::executeBatch);
    }
    assertThrows(SQLException.class, () -> run(admin, "INSERT INTO t VALUES (4711, 'hunter2')"));
    assertThrows(SQLException.class, () -> run(admin, "SELECT 'it's hunter2' FROM t"));
    assertEquals("INSERT INTO t VALUES(?, ?)", form("INSERT INTO t VALUES(_, _)"));
    assertEquals("CREATE USER ann PASSWORD ?", form("CREATE USER%"));
    assertEquals("SELECT secret FROM t WHERE id = ?", form("SELECT secret%"));
    assertEquals("UPDATE t SET secret = ? WHERE id = ?", form("UPDATE t%WHERE%"));
    assertEquals("INSERT INTO t VALUES(?, ?) (and 1 more)", form("INSERT%more)"));
    assertEquals(
        "0",
        one(
            admin,
            "SELECT COUNT(*) FROM TOLLGATE.SLOW_STATEMENTS WHERE FORM LIKE '%hunter2%' OR FORM LIKE"
                + " '%471%'"));
    assertEquals(
        "1",
        one(
            admin,
            "SELECT COUNT(*) FROM TOLLGATE.SLOW_STATEMENTS WHERE OUTCOME LIKE '42%' AND FORM IS"
                + " NULL AND FORM_ID = 'unread'"),
        "what cannot be read");
    assertEquals(
        "1",
        one(
            admin,
            "SELECT COUNT(*) FROM TOLLGATE.SLOW_STATEMENTS WHERE OUTCOME = 'DONE' AND FORM IS NULL"
                + " AND FORM_ID = 'unread'"),
        "a series whose first statement cannot be read");
    assertEquals(
        "23505",
        one(
            admin,
            "SELECT OUTCOME FROM TOLLGATE.SLOW_STATEMENTS WHERE OUTCOME <> 'DONE' AND FORM LIKE"
                + " 'INSERT%' ORDER BY ANSWERED_AT DESC"));
    assertEquals(
        "app of root",
        one(admin, "SELECT MIN(APPLICATION) FROM TOLLGATE.SLOW_STATEMENTS WHERE FORM IS NOT NULL"));
    String logged = String.join("\n", lines.warnings());
    assertTrue(logged.contains("n1: a statement of session "), logged);
    assertTrue(logged.contains("n1: applying log entry "), logged);
    assertFalse(logged.contains("hunter2") || logged.contains("4711"), logged);
    assertFalse(logged.contains("INSERT") || logged.contains("SELECT"), logged);
  }

  @Test
  void entriesOfTheLogAreShownWithTheirSlowestCommand() throws Exception {
    run(admin, "CREATE TABLE t (id INT PRIMARY KEY)");
    String command =
        one(
            admin,
            "SELECT SLOWEST_COMMAND FROM TOLLGATE.SLOW_APPLIES WHERE SESSION_ID IS NOT NULL AND"
                + " TOOK_MS >= SLOWEST_MS ORDER BY LOG_INDEX DESC");
    assertEquals("ExecuteSql", command);
  }

  @Test
  void waitForALockIsToldApart() throws Exception {
    one(admin, "SELECT acquire_lock('customer-7')");
    try (Connection other = connect("root")) {
      CompletableFuture<@Nullable String> waiting =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return one(other, "SELECT acquire_lock('customer-7')");
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      Awaitility.await()
          .atMost(DEADLINE)
          .until(() -> "1".equals(one(admin, "SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS")));
      long begin = System.nanoTime();
      assertEquals(
          "HOLD",
          one(
              admin,
              "SELECT WHAT FROM TOLLGATE.STUCK_LOCKS WHERE LOCK_NAME = 'customer-7' AND TOKEN ="
                  + " lock_token('customer-7') AND WAITERS = 1 AND LASTS_MS >= 0 AND SINCE <="
                  + " CURRENT_TIMESTAMP"));
      assertEquals(
          "app of root",
          one(admin, "SELECT APPLICATION FROM TOLLGATE.STUCK_LOCKS WHERE WHAT = 'WAIT'"));
      assertNull(one(admin, "SELECT TOKEN FROM TOLLGATE.STUCK_LOCKS WHERE WHAT = 'WAIT'"));
      long atLeastMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
      one(admin, "SELECT release_lock('customer-7')");
      assertNotNull(waiting.get(60, TimeUnit.SECONDS));
      assertEquals(
          "1",
          one(
              admin,
              "SELECT COUNT(*) FROM TOLLGATE.SLOW_STATEMENTS WHERE FORM = 'SELECT acquire_lock(?)'"
                  + " AND TOOK_MS >= WAITED_MS AND WAITED_MS >= "
                  + atLeastMillis));
    }
    assertEquals("0", one(admin, "SELECT COUNT(*) FROM TOLLGATE.STUCK_LOCKS WHERE WHAT = 'WAIT'"));
  }

  @Test
  void usersSeeTheirOwn() throws Exception {
    run(admin, "CREATE USER ann PASSWORD 'ann-password'");
    run(admin, "GRANT LOCK ON 'ann-%' TO ann");
    one(admin, "SELECT acquire_lock('bob-1')");
    try (Connection ann = connect("ann")) {
      one(ann, "SELECT acquire_lock('ann-1')");
      assertEquals("ANN", one(ann, "SELECT MIN(USER_NAME) FROM TOLLGATE.SLOW_STATEMENTS"));
      assertEquals("ANN", one(ann, "SELECT MAX(USER_NAME) FROM TOLLGATE.SLOW_STATEMENTS"));
      assertEquals("0", one(ann, "SELECT COUNT(*) FROM TOLLGATE.SLOW_APPLIES"));
      assertEquals("ann-1", one(ann, "SELECT MIN(LOCK_NAME) FROM TOLLGATE.STUCK_LOCKS"));
      assertEquals("ann-1", one(ann, "SELECT MAX(LOCK_NAME) FROM TOLLGATE.STUCK_LOCKS"));
      assertEquals("2", one(admin, "SELECT COUNT(*) FROM TOLLGATE.STUCK_LOCKS"));
    }
    assertEquals("ROOT", one(admin, "SELECT MAX(USER_NAME) FROM TOLLGATE.SLOW_STATEMENTS"));
    assertEquals("ANN", one(admin, "SELECT MIN(USER_NAME) FROM TOLLGATE.SLOW_STATEMENTS"));
  }
}
