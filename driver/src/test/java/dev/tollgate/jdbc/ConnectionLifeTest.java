package dev.tollgate.jdbc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.wire.Request;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConnectionLifeTest {
  private FakeCluster cluster;
  private Connection connection;
  private Statement statement;

  @BeforeEach
  void open() throws Exception {
    cluster = FakeCluster.start(2);
    connection = DriverManager.getConnection(cluster.url("failoverTimeout=1s"));
    statement = connection.createStatement();
    statement.execute("CREATE TABLE T(ID INT PRIMARY KEY)");
  }

  @AfterEach
  void close() throws Exception {
    connection.close();
    cluster.close();
  }

  /** Runs a query in another thread; what it throws becomes the result. */
  private CompletableFuture<SQLException> running(String sql) {
    int before = cluster.received().size();
    CompletableFuture<SQLException> outcome =
        CompletableFuture.supplyAsync(
            () -> {
              try (ResultSet rows = statement.executeQuery(sql)) {
                return rows.next() ? null : new SQLException("no row");
              } catch (SQLException e) {
                return e;
              }
            });
    await().until(() -> cluster.received().size() > before);
    return outcome;
  }

  private static SQLException get(CompletableFuture<SQLException> outcome) throws Exception {
    return outcome.get(20, TimeUnit.SECONDS);
  }

  @Test
  void cancelEndsAWaitingStatement() throws Exception {
    cluster.node(0).holdStatements();
    CompletableFuture<SQLException> outcome = running("SELECT 1");
    statement.cancel();
    SQLException e = get(outcome);
    assertTrue(e instanceof SQLTimeoutException, String.valueOf(e));
    assertEquals("57014", e.getSQLState());
    assertEquals(57_014, e.getErrorCode());
    cluster.node(0).holdNothing();
    assertTrue(connection.isValid(1));
  }

  @Test
  void cancelEndsARunningQuery() throws Exception {
    CompletableFuture<SQLException> outcome =
        running("SELECT SUM(SLOW(1)) FROM SYSTEM_RANGE(1, 1000000)");
    await()
        .until(
            () -> {
              statement.cancel();
              return outcome.isDone();
            });
    assertEquals("57014", get(outcome).getSQLState());
    assertTrue(connection.isValid(1));
  }

  @Test
  void queryTimeoutCancels() throws Exception {
    cluster.node(0).holdStatements();
    statement.setQueryTimeout(1);
    assertEquals(1, statement.getQueryTimeout());
    long start = System.nanoTime();
    SQLException e = assertThrows(SQLException.class, () -> statement.executeQuery("SELECT 1"));
    assertTrue(e instanceof SQLTimeoutException, String.valueOf(e));
    assertEquals("57014", e.getSQLState());
    assertTrue(System.nanoTime() - start >= 1_000_000_000L);
    cluster.node(0).holdNothing();
    statement.setQueryTimeout(0);
    assertTrue(statement.execute("SELECT 1"));
    assertTrue(connection.isValid(1));
  }

  /** The outcome is the node's to say, however late: only a network timeout ends the connection. */
  @Test
  void aTimedOutStatementIsCancelledUntilTheNodeSaysHowItEnded() throws Exception {
    statement.setQueryTimeout(1);
    cluster.node(0).holdStatements();
    cluster.node(0).ignoreCancellations(true);
    CompletableFuture<SQLException> outcome = running("SELECT 1");
    await().until(() -> cluster.others(Request.Cancel.class).size() >= 2);
    assertFalse(outcome.isDone());
    cluster.node(0).ignoreCancellations(false);
    assertEquals("57014", get(outcome).getSQLState());
    cluster.node(0).holdNothing();
    assertTrue(connection.isValid(1));
  }

  @Test
  void networkTimeoutEndsTheConnection() throws Exception {
    assertEquals(0, connection.getNetworkTimeout());
    connection.setNetworkTimeout(Runnable::run, 300);
    assertEquals(300, connection.getNetworkTimeout());
    cluster.node(0).holdStatements();
    long start = System.nanoTime();
    SQLException e = assertThrows(SQLException.class, () -> statement.executeQuery("SELECT 1"));
    assertTrue(e instanceof SQLNonTransientConnectionException, String.valueOf(e));
    assertEquals("08007", e.getSQLState());
    assertTrue(System.nanoTime() - start < 5_000_000_000L);
    assertTrue(connection.isClosed());
    assertThrows(SQLException.class, () -> connection.setNetworkTimeout(Runnable::run, 1));
    cluster.node(0).holdNothing();
    await().until(() -> cluster.openSessions() == 0);
  }

  @Test
  void negativeTimeoutsAreRefused() throws Exception {
    assertEquals(
        "22023",
        assertThrows(SQLException.class, () -> connection.setNetworkTimeout(null, -1))
            .getSQLState());
    assertEquals(
        "22023", assertThrows(SQLException.class, () -> connection.isValid(-1)).getSQLState());
    assertThrows(SQLException.class, () -> statement.setQueryTimeout(-1));
  }

  @Test
  void closeEndsTheSessionAndIsIdempotent() throws Exception {
    connection.close();
    connection.close();
    assertTrue(connection.isClosed());
    assertFalse(connection.isValid(1));
    assertEquals(0, cluster.openSessions());
    assertEquals(1, cluster.others(Request.CloseSession.class).size());
    assertEquals(
        90_007,
        assertThrows(SQLException.class, () -> connection.createStatement()).getErrorCode());
    assertThrows(SQLException.class, () -> statement.executeQuery("SELECT 1"));
    assertThrows(SQLException.class, () -> connection.commit());
    assertThrows(SQLException.class, () -> connection.rollback());
    assertThrows(
        java.sql.SQLClientInfoException.class, () -> connection.setClientInfo("ClientUser", "jo"));
    statement.close();
  }

  @Test
  void closeDoesNotWaitForAStatementThatHangs() throws Exception {
    cluster.node(0).holdStatements();
    cluster.node(0).ignoreCancellations(true);
    CompletableFuture<SQLException> outcome = running("SELECT 1");
    long start = System.nanoTime();
    connection.close();
    assertTrue(System.nanoTime() - start < 4_000_000_000L);
    assertTrue(get(outcome).getSQLState().startsWith("08"));
    await().until(() -> cluster.openSessions() == 0);
  }

  @Test
  void closeCancelsAStatementThatWaits() throws Exception {
    cluster.node(0).holdStatements();
    CompletableFuture<SQLException> outcome = running("SELECT 1");
    connection.close();
    assertEquals("57014", get(outcome).getSQLState());
    assertEquals(0, cluster.openSessions());
  }

  @Test
  void closeDoesNotHangOnASilentNode() throws Exception {
    cluster.node(0).fallSilent(true);
    long start = System.nanoTime();
    connection.close();
    assertTrue(System.nanoTime() - start < 4_000_000_000L);
  }

  @Test
  void abortEndsAStatementAtOnce() throws Exception {
    cluster.node(0).holdStatements();
    CompletableFuture<SQLException> outcome = running("SELECT 1");
    List<Runnable> tasks = new ArrayList<>();
    connection.abort(tasks::add);
    assertTrue(connection.isClosed());
    assertFalse(connection.isValid(1));
    assertFalse(outcome.isDone());
    tasks.forEach(Runnable::run);
    assertEquals("08007", get(outcome).getSQLState());
    await().until(() -> cluster.openSessions() == 0);
    connection.abort(tasks::add);
    assertThrows(SQLException.class, () -> connection.abort(null));
  }

  @Test
  void abortedSessionIsClosedByTheNextLeader() throws Exception {
    Connection aborted = DriverManager.getConnection(cluster.url(""));
    cluster.node(0).stop();
    aborted.abort(Runnable::run);
    cluster.lead(cluster.node(1));
    await().until(() -> cluster.openSessions() == 1);
  }

  @Test
  void abortDoesNotWaitForASilentNode() throws Exception {
    Connection aborted = DriverManager.getConnection(cluster.url(""));
    cluster.node(0).fallSilent(true);
    long start = System.nanoTime();
    aborted.abort(Runnable::run);
    assertTrue(System.nanoTime() - start < 1_000_000_000L);
    cluster.node(0).fallSilent(false);
    await().until(() -> cluster.openSessions() == 1);
  }

  @Test
  void isValidAsksTheNode() throws Exception {
    assertTrue(connection.isValid(1));
    assertTrue(connection.isValid(0));
    cluster.node(0).fallSilent(true);
    long start = System.nanoTime();
    assertFalse(connection.isValid(1));
    assertTrue(System.nanoTime() - start < 3_000_000_000L);
  }

  @Test
  void isValidMovesTheSessionToTheNewLeader() throws Exception {
    cluster.lead(cluster.node(1));
    cluster.node(0).stop();
    assertTrue(connection.isValid(5));
    assertTrue(statement.execute("SELECT 1"));
  }

  @Test
  void isValidIsTrueWhileAStatementWaits() throws Exception {
    cluster.node(0).holdStatements();
    CompletableFuture<SQLException> outcome = running("SELECT 1");
    assertTrue(connection.isValid(1));
    cluster.node(0).release();
    assertEquals(null, get(outcome));
  }

  @Test
  void isValidIsFalseForALostSession() throws Exception {
    cluster.loseSessions();
    await().until(() -> !connection.isValid(1));
    assertTrue(connection.isClosed());
  }

  @Test
  void anAnsweredErrorLeavesTheConnectionOpen() throws Exception {
    assertThrows(SQLException.class, () -> statement.execute("SELEC 1"));
    assertFalse(connection.isClosed());
    assertTrue(connection.isValid(1));
  }

  @Test
  void withoutNodesOpeningFails() throws Exception {
    String url = cluster.url("failoverTimeout=300ms");
    cluster.node(0).stop();
    cluster.node(1).stop();
    SQLException e = assertThrows(SQLException.class, () -> DriverManager.getConnection(url));
    assertTrue(e instanceof SQLTransientConnectionException, String.valueOf(e));
    assertEquals("08001", e.getSQLState());
  }
}
