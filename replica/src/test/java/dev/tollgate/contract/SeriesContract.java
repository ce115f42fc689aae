package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateConnection;
import dev.tollgate.transport.ClusterSession;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Several statements in one request: batches of different texts, and pipelined transactions. */
abstract class SeriesContract extends TransactionLocksContract {
  private static final int FAILED = Statement.EXECUTE_FAILED;

  private static int[] batch(Connection connection, String... texts) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String text : texts) {
        statement.addBatch(text);
      }
      return statement.executeBatch();
    }
  }

  private static void pipeline(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    connection.unwrap(TollgateConnection.class).pipelineTransaction();
  }

  private static void assertFails(String state, CompletableFuture<?> call) {
    Throwable failure =
        assertThrows(Exception.class, () -> call.get(30, TimeUnit.SECONDS)).getCause();
    while (!(failure instanceof SQLException) && failure.getCause() != null) {
      failure = failure.getCause();
    }
    assertEquals(state, ((SQLException) failure).getSQLState(), failure.toString());
  }

  private static CompletableFuture<?> commit(Connection connection) {
    return async(
        () -> {
          connection.commit();
          return true;
        });
  }

  private static boolean isWaiting(Connection watcher) throws SQLException {
    return number(
            watcher, "SELECT COUNT(*) FROM TOLLGATE.TRANSACTIONS WHERE STATEMENTS_WAITING > 0")
        > 0;
  }

  /** Two accounts with 100 each. */
  private static void accounts(Connection connection) throws SQLException {
    update(connection, "CREATE TABLE A(ID INT PRIMARY KEY, V INT CHECK (V >= 0))");
    update(connection, "INSERT INTO A VALUES(1, 100), (2, 100)");
  }

  private static void move(Connection connection, int amount) throws SQLException {
    try (PreparedStatement add =
        connection.prepareStatement("UPDATE A SET V = V + ? WHERE ID = ?")) {
      add.setInt(1, amount);
      add.setInt(2, 2);
      add.executeUpdate();
      add.setInt(1, -amount);
      add.setInt(2, 1);
      add.executeUpdate();
    }
  }

  @Test
  void batchOfDifferentTextsRunsEachAndTellsWhichOneFailed() throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE T(ID INT PRIMARY KEY, U UUID DEFAULT RANDOM_UUID())");
      BatchUpdateException failed =
          assertThrows(
              BatchUpdateException.class,
              () ->
                  batch(
                      connection,
                      "INSERT INTO T(ID) VALUES(1)",
                      "INSERT INTO T(ID) VALUES(1)",
                      "INSERT INTO T(ID) VALUE",
                      "INSERT INTO T(ID) VALUES(?)",
                      "INSERT INTO T(ID) VALUES(2), (3)",
                      "DELETE FROM T WHERE ID > 2"));
      assertArrayEquals(new int[] {1, FAILED, FAILED, FAILED, 2, 1}, failed.getUpdateCounts());
      assertEquals("23505", failed.getSQLState());
      assertEquals("42T01", failed.getNextException().getNextException().getSQLState());
      assertEquals(
          2, number(connection, "SELECT COUNT(DISTINCT U) FROM T"), "each draws its own numbers");
      assertEquals(1, batch(connection, "INSERT INTO T(ID) VALUES(4)")[0]);
    }
  }

  @Test
  void batchOfDifferentTextsBelongsToTheTransaction() throws SQLException {
    try (Connection connection = connect();
        Connection other = connect()) {
      accounts(connection);
      connection.setAutoCommit(false);
      batch(connection, "UPDATE A SET V = V - 10 WHERE ID = 1", "DELETE FROM A WHERE ID = 2");
      assertEquals(90, number(connection, "SELECT SUM(V) FROM A"));
      assertEquals(200, number(other, "SELECT SUM(V) FROM A"));
      connection.rollback();
      assertEquals(200, number(connection, "SELECT SUM(V) FROM A"));
    }
  }

  @Test
  void eachStatementOfABatchIsFencedAndMayTakeItsOwnLock() throws SQLException {
    try (Connection connection = connect()) {
      accounts(connection);
      update(connection, "ALTER TABLE A FENCED BY LOCK 'a'");
      update(connection, "CREATE TABLE B(ID INT)");
      BatchUpdateException failed =
          assertThrows(
              BatchUpdateException.class,
              () ->
                  batch(
                      connection,
                      "INSERT INTO B VALUES(1)",
                      "UPDATE A SET V = 0",
                      "UPDATE A SET V = V + 1 LOCKED BY 'a'",
                      "INSERT INTO B VALUES(2) FENCED BY LOCK 'a' TOKEN 1",
                      "INSERT INTO B VALUES(3)"));
      assertArrayEquals(new int[] {1, FAILED, 2, FAILED, 1}, failed.getUpdateCounts());
      assertEquals("23T02", failed.getSQLState());
      assertEquals("23T01", failed.getNextException().getNextException().getSQLState());
      assertEquals(202, number(connection, "SELECT SUM(V) FROM A"));
    }
  }

  @Test
  void pipelinedTransactionIsSeenByOthersWhenItCommits() throws SQLException {
    try (Connection connection = connect();
        Connection other = connect()) {
      accounts(connection);
      pipeline(connection);
      move(connection, 30);
      assertEquals(130, number(connection, "SELECT V FROM A WHERE ID = 2"), "its own query");
      move(connection, 5);
      assertEquals(100, number(other, "SELECT V FROM A WHERE ID = 2"));
      connection.commit();
      assertEquals(135, number(other, "SELECT V FROM A WHERE ID = 2"));
      assertEquals(65, number(other, "SELECT V FROM A WHERE ID = 1"));
    }
  }

  @Test
  void pipelinedTransactionOfWhichAStatementFailsCanOnlyBeRolledBack() throws SQLException {
    try (Connection connection = connect()) {
      accounts(connection);
      pipeline(connection);
      move(connection, 101);
      move(connection, 1);
      SQLException failure = assertThrows(SQLException.class, connection::commit);
      assertEquals("23513", failure.getSQLState());
      assertEquals("25P02", assertThrows(SQLException.class, connection::commit).getSQLState());
      connection.rollback();
      assertEquals(100, number(connection, "SELECT V FROM A WHERE ID = 2"));
      connection.commit();
    }
  }

  @Test
  void commitOfAPipelinedTransactionIsFenced() throws SQLException {
    try (Connection connection = connect();
        Connection other = connect()) {
      accounts(connection);
      update(connection, "ALTER TABLE A FENCED BY LOCK 'a'");
      update(connection, "CREATE TABLE B AS SELECT 1 AS ID");
      number(connection, "SELECT acquire_lock('a')");
      pipeline(connection);
      move(connection, 1);
      assertEquals(101, number(connection, "SELECT V FROM A WHERE ID = 2"));
      update(connection, "UPDATE B SET ID = 2");
      assertEquals(true, value(other, "SELECT force_release_lock('a')"));
      assertEquals("23T01", assertThrows(SQLException.class, connection::commit).getSQLState());
      connection.commit();
      assertEquals(1, update(connection, "DELETE FROM B"), "the transaction has ended");
      connection.rollback();
      assertEquals(100, number(other, "SELECT V FROM A WHERE ID = 2"));
    }
  }

  @Test
  void pipelinedCommitWaitsForARowAndGoesOn() throws Exception {
    try (Connection connection = connect("lockTimeout=1m");
        Connection holder = connect();
        Connection watcher = connect()) {
      accounts(connection);
      holder.setAutoCommit(false);
      update(holder, "UPDATE A SET V = V + 1 WHERE ID = 1");
      pipeline(connection);
      move(connection, 10);
      CompletableFuture<?> commit = commit(connection);
      await().atMost(DEADLINE).until(() -> isWaiting(watcher));
      assertFalse(commit.isDone());
      holder.commit();
      commit.get(30, TimeUnit.SECONDS);
      assertEquals(91, number(watcher, "SELECT V FROM A WHERE ID = 1"));
      assertEquals(110, number(watcher, "SELECT V FROM A WHERE ID = 2"));
    }
  }

  @Test
  void pipelinedCommitThatWaitsIsCancelledAndTimesOut() throws Exception {
    try (Connection connection = connect("lockTimeout=1m");
        Connection holder = connect();
        Connection watcher = connect()) {
      accounts(connection);
      holder.setAutoCommit(false);
      update(holder, "UPDATE A SET V = V + 1 WHERE ID = 1");
      pipeline(connection);
      move(connection, 10);
      CompletableFuture<?> commit = commit(connection);
      await().atMost(DEADLINE).until(() -> isWaiting(watcher));
      connection.unwrap(ClusterSession.class).cancel();
      assertFails("57014", commit);
      connection.rollback();
      update(connection, "SET LOCK_TIMEOUT 50");
      pipeline(connection);
      move(connection, 10);
      assertFails("HYT00", commit(connection));
      connection.rollback();
      assertEquals(200, number(watcher, "SELECT SUM(V) FROM A"));
      holder.rollback();
      pipeline(connection);
      move(connection, 10);
      connection.commit();
      assertEquals(110, number(watcher, "SELECT V FROM A WHERE ID = 2"));
    }
  }

  @Test
  void batchThatWaitsForARowIsCancelled() throws Exception {
    try (Connection connection = connect("lockTimeout=1m");
        Statement statement = connection.createStatement();
        Connection holder = connect();
        Connection watcher = connect()) {
      accounts(connection);
      holder.setAutoCommit(false);
      update(holder, "UPDATE A SET V = V + 1 WHERE ID = 1");
      statement.addBatch("UPDATE A SET V = V + 1 WHERE ID = 2");
      statement.addBatch("UPDATE A SET V = V + 1 WHERE ID = 1");
      CompletableFuture<int[]> batch = async(statement::executeBatch);
      await().atMost(DEADLINE).until(() -> isWaiting(watcher));
      statement.cancel();
      assertFails("57014", batch);
      assertEquals(101, number(watcher, "SELECT V FROM A WHERE ID = 2"), "ran before");
    }
  }

  @Test
  void batchThatWaitsForARowEndsWithItsQueryTimeout() throws Exception {
    try (Connection connection = connect("lockTimeout=1m");
        Statement statement = connection.createStatement();
        Connection holder = connect()) {
      accounts(connection);
      holder.setAutoCommit(false);
      update(holder, "UPDATE A SET V = V + 1 WHERE ID = 1");
      statement.setQueryTimeout(1);
      statement.addBatch("UPDATE A SET V = V + 1 WHERE ID = 2");
      statement.addBatch("UPDATE A SET V = V + 1 WHERE ID = 1");
      assertFails("57014", async(statement::executeBatch));
      assertEquals(101, number(connection, "SELECT V FROM A WHERE ID = 2"), "ran before");
    }
  }

  @Test
  void pipelineEndsWithItsTransaction() throws SQLException {
    try (Connection connection = connect()) {
      accounts(connection);
      pipeline(connection);
      assertEquals(Statement.SUCCESS_NO_INFO, update(connection, "UPDATE A SET V = V + 1"));
      connection.setAutoCommit(true);
      assertEquals(2, update(connection, "UPDATE A SET V = V + 1"));
      assertEquals(204, number(connection, "SELECT SUM(V) FROM A"));
      assertTrue(connection.getAutoCommit());
    }
  }
}
