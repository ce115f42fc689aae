package dev.tollgate.node;

import static dev.tollgate.node.TestSql.one;
import static dev.tollgate.node.TestSql.run;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of open connections when their user is locked, expires, or loses rights. */
@Timeout(300)
class EndedConnectionsTest {
  private static final String PASSWORD = "first-password";
  private static final String CHANGED = "second-password";
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private static Node node;
  private static Connection admin;

  @BeforeAll
  static void start() throws Exception {
    node = TestUsers.node("ROOT", PASSWORD);
    admin = connect("ROOT", PASSWORD);
    run(admin, "CREATE TABLE T (ID INT PRIMARY KEY)");
    run(admin, "CREATE SEQUENCE S");
  }

  @AfterAll
  static void stop() throws Exception {
    admin.close();
    node.close();
  }

  @BeforeEach
  void newUser() throws SQLException {
    run(admin, "DROP USER IF EXISTS ANN");
    run(admin, "CREATE USER ANN PASSWORD '" + PASSWORD + "'");
    run(admin, "GRANT SELECT, INSERT, UPDATE ON T TO ANN");
    run(admin, "GRANT LOCK ON '%' TO ANN");
    run(admin, "DELETE FROM T");
  }

  private static Connection connect(String user, String password) throws SQLException {
    Properties properties = new Properties();
    properties.put("user", user);
    properties.put("password", password);
    properties.put("lockWait", "10ms");
    properties.put("failoverTimeout", "60s");
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/", properties);
  }

  private static @Nullable String refusal(Connection connection, String sql) {
    try {
      run(connection, sql);
      return null;
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  private static String refusedLogin(String password) {
    SQLException e = assertThrows(SQLException.class, () -> connect("ANN", password).close());
    assertEquals("28000", e.getSQLState(), e.getMessage());
    return String.valueOf(e.getMessage());
  }

  /** The connection is dead, whatever the driver tries. */
  private static void assertDead(Connection connection) {
    String state = refusal(connection, "SELECT 1");
    assertTrue(List.of("28000", "08006", "08003", "08007").contains(state), state);
  }

  @Test
  void lockedUserLosesItsConnectionsAndWhatTheyHold() throws Exception {
    try (Connection open = connect("ANN", PASSWORD);
        Connection writer = connect("ANN", PASSWORD)) {
      assertNotNull(one(open, "SELECT acquire_lock('x')"));
      writer.setAutoCommit(false);
      run(writer, "INSERT INTO T VALUES (1)");
      run(admin, "ALTER USER ANN ACCOUNT LOCK");
      assertEquals("0", one(admin, "SELECT COUNT(*) FROM T"));
      assertNotNull(one(admin, "SELECT try_acquire_lock('x')"), "it is free");
      run(admin, "SELECT release_lock('x')");
      assertEquals("TRUE", one(admin, "SELECT LOCKED FROM TOLLGATE.USERS WHERE USER_NAME = 'ANN'"));
      String message = refusedLogin(PASSWORD);
      assertTrue(message.contains("ALTER USER ANN ACCOUNT UNLOCK"), message);
      assertTrue(!refusedLogin("wrong-password").contains("locked"), "a stranger is told nothing");
      run(admin, "ALTER USER ANN ACCOUNT UNLOCK");
      // of before: also now that the user may log in again
      assertDead(open);
      assertDead(writer);
    }
    connect("ANN", PASSWORD).close();
  }

  @Test
  void passwordEndsOtherConnectionsWhenAsked() throws Exception {
    try (Connection other = connect("ANN", PASSWORD);
        Connection own = connect("ANN", PASSWORD)) {
      run(own, "SET PASSWORD '" + PASSWORD + "'");
      run(other, "SELECT 1");
      assertNotNull(one(own, "SELECT acquire_lock('mine')"));
      run(own, "SET PASSWORD '" + CHANGED + "' END SESSIONS");
      assertDead(other);
      run(own, "INSERT INTO T VALUES (2)");
      assertNull(one(admin, "SELECT try_acquire_lock('mine')"), "its session has not ended");
      run(admin, "ALTER USER ANN SET PASSWORD '" + PASSWORD + "' END SESSIONS");
      assertDead(own);
    }
    refusedLogin(CHANGED);
    connect("ANN", PASSWORD).close();
  }

  @Test
  void administratorEndsOneSessionAlone() throws Exception {
    try (Connection other = connect("ANN", PASSWORD);
        Connection stuck = connect("ANN", PASSWORD);
        PreparedStatement end = admin.prepareStatement("CALL end_session(?)")) {
      assertNotNull(one(stuck, "SELECT acquire_lock('stuck')"));
      assertNotNull(one(other, "SELECT acquire_lock('kept')"));
      stuck.setAutoCommit(false);
      run(stuck, "INSERT INTO T VALUES (7)");
      String id = one(admin, "SELECT SESSION_ID FROM TOLLGATE.TRANSACTIONS");
      end.setLong(1, Long.parseLong(String.valueOf(id)));
      for (int sent = 0; sent < 2; sent++) {
        // the second one finds that session gone, as a driver that sends the call again
        assertTrue(end.execute());
        List<String> left = new ArrayList<>();
        try (ResultSet sessions = end.getResultSet()) {
          while (sessions.next()) {
            left.add(sessions.getString("SESSION_ID"));
          }
        }
        assertTrue(left.size() > 1 && !left.contains(id), left.toString());
      }
      assertEquals("0", one(admin, "SELECT COUNT(*) FROM T WHERE ID = 7"));
      assertNotNull(one(admin, "SELECT try_acquire_lock('stuck')"), "it is free");
      run(admin, "SELECT release_lock('stuck')");
      String next = refusal(stuck, "INSERT INTO T VALUES (8)");
      assertTrue(List.of("08006", "08007").contains(next), next);
      assertDead(stuck);
      run(other, "SELECT 1");
      assertNull(one(admin, "SELECT try_acquire_lock('kept')"), "its session has not ended");
      for (String wrong : List.of("NULL", "'x'", "-1", "0")) {
        assertEquals("22023", refusal(admin, "CALL end_session(" + wrong + ")"), wrong);
      }
      String own =
          one(admin, "SELECT SESSION_ID FROM TOLLGATE.SESSIONS WHERE USER_NAME = CURRENT_USER");
      SQLException refused =
          assertThrows(SQLException.class, () -> run(admin, "CALL end_session(" + own + ")"));
      assertEquals("22023", refused.getSQLState());
      assertTrue(refused.getMessage().contains("close its connection"), refused.getMessage());
      assertEquals("42501", refusal(other, "CALL end_session(" + id + ")"));
    }
  }

  /** Outside of a transaction, a query writes nothing whose refusal could tell. */
  @Test
  void endedSessionIsAskedNoFurtherQuery() throws Exception {
    for (int i = 0; i < 20; i++) {
      try (Connection ended = connect("ANN", PASSWORD)) {
        run(ended, "SELECT ID FROM T");
        String id =
            one(admin, "SELECT MAX(SESSION_ID) FROM TOLLGATE.SESSIONS WHERE USER_NAME = 'ANN'");
        run(admin, "CALL end_session(" + id + ")");
        String state = String.valueOf(refusal(ended, "SELECT ID FROM T"));
        assertTrue(List.of("08006", "08003").contains(state), state);
      }
    }
  }

  @Test
  void endOfASessionEndsItsWait() throws Exception {
    run(admin, "SELECT acquire_lock('awaited')");
    ExecutorService threads = Executors.newSingleThreadExecutor();
    try (Connection waiter = connect("ANN", PASSWORD)) {
      Future<String> state =
          threads.submit(() -> refusal(waiter, "SELECT acquire_lock('awaited', 0, 600000)"));
      String waits = "SELECT SESSION_ID FROM TOLLGATE.SESSIONS WHERE WAITS_FOR_LOCK = 'awaited'";
      await().atMost(DEADLINE).until(() -> one(admin, waits) != null);
      run(admin, "CALL end_session(" + one(admin, waits) + ")");
      String ended = state.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
      assertTrue(List.of("08006", "08003").contains(ended), ended);
    } finally {
      run(admin, "SELECT release_lock('awaited')");
      threads.shutdownNow();
    }
  }

  @Test
  void expiredUserLogsInNoMoreAndItsConnectionsGoOn() throws Exception {
    try (Connection open = connect("ANN", PASSWORD)) {
      run(admin, "ALTER USER ANN VALID UNTIL '2000-01-01'");
      String message = refusedLogin(PASSWORD);
      assertTrue(message.contains("ALTER USER ANN VALID UNTIL 'timestamp'"), message);
      assertTrue(!refusedLogin("wrong-password").contains("expired"), "a stranger is told nothing");
      run(open, "INSERT INTO T VALUES (3)");
      run(admin, "ALTER USER ANN VALID UNTIL '2999-12-31 23:59:59.5+01'");
      assertEquals(
          "2999-12-31 22:59:59.5",
          one(
              admin,
              "SELECT CAST(VALID_UNTIL AT TIME ZONE 'UTC' AS VARCHAR(21)) FROM TOLLGATE.USERS"
                  + " WHERE USER_NAME = 'ANN'"));
      connect("ANN", PASSWORD).close();
    }
    for (String sql :
        List.of(
            "ALTER USER ROOT VALID UNTIL '2999-12-31'",
            "ALTER USER ROOT ACCOUNT LOCK",
            "DROP USER ROOT")) {
      assertEquals("55T07", refusal(admin, sql), sql);
    }
  }

  /** Also where the statement is prepared, and in an open transaction. */
  @Test
  void revokedRightBindsAtTheNextStatement() throws Exception {
    run(admin, "CREATE ROLE R");
    run(admin, "GRANT R TO ANN");
    run(admin, "GRANT FORCE ON '%' TO R");
    run(admin, "GRANT USAGE ON SEQUENCE S TO R");
    try (Connection ann = connect("ANN", PASSWORD);
        PreparedStatement query = ann.prepareStatement("SELECT ID FROM T");
        PreparedStatement insert = ann.prepareStatement("INSERT INTO T VALUES (?)")) {
      ann.setAutoCommit(false);
      insert.setInt(1, 1);
      insert.executeUpdate();
      query.executeQuery().close();
      run(admin, "REVOKE INSERT ON T FROM ANN");
      insert.setInt(1, 2);
      SQLException refused = assertThrows(SQLException.class, insert::executeUpdate);
      assertEquals("90096", refused.getSQLState(), refused.getMessage());
      run(admin, "REVOKE SELECT ON T FROM ANN");
      refused = assertThrows(SQLException.class, query::executeQuery);
      assertEquals("90096", refused.getSQLState(), refused.getMessage());
      ann.rollback();
      ann.setAutoCommit(true);
      assertNull(refusal(ann, "SELECT force_release_lock('x')"));
      assertNull(refusal(ann, "SELECT NEXT VALUE FOR S"));
      run(admin, "REVOKE R FROM ANN");
      assertEquals("42501", refusal(ann, "SELECT force_release_lock('x')"));
      assertEquals("90096", refusal(ann, "SELECT NEXT VALUE FOR S"));
      assertNull(refusal(ann, "SELECT acquire_lock('x')"));
      run(admin, "REVOKE LOCK ON '%' FROM ANN");
      assertEquals("42501", refusal(ann, "SELECT acquire_lock('y')"));
      run(admin, "ALTER USER ANN ADMIN TRUE");
      assertNull(refusal(ann, "SELECT ID FROM T"));
      run(admin, "ALTER USER ANN ADMIN FALSE");
      assertEquals("90096", refusal(ann, "SELECT ID FROM T"));
    } finally {
      run(admin, "DROP ROLE R");
    }
  }
}
