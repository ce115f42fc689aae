package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What every way to Tollgate promises about locks that end with a transaction or with a statement.
 */
abstract class TransactionLocksContract extends LockKindsContract {
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void lockOfATransactionEndsWithIt(boolean commits) throws Exception {
    try (Connection one = connect();
        Connection two = connect("lockWait=1m");
        Connection watcher = connect()) {
      one.setAutoCommit(false);
      two.setAutoCommit(false);
      long token = number(one, "SELECT acquire_transaction_lock('job')");
      assertEquals(token, number(one, "SELECT acquire_transaction_lock('job')"), "again");
      assertEquals(token, number(watcher, "SELECT lock_token('job')"));
      assertNull(numberOrNull(two, "SELECT acquire_transaction_lock('job', 0)"));
      assertNull(numberOrNull(two, "SELECT acquire_transaction_lock('job', 50)"));
      CompletableFuture<Long> next =
          async(() -> number(two, "SELECT acquire_transaction_lock('job')"));
      await().atMost(DEADLINE).until(() -> waiters(watcher) == 1);
      if (commits) {
        one.commit();
      } else {
        one.rollback();
      }
      assertTrue(next.get(30, TimeUnit.SECONDS) > token);
      two.rollback();
      assertNull(numberOrNull(watcher, "SELECT lock_token('job')"));
    }
  }

  @Test
  void lockOfATransactionNeedsATransaction() throws SQLException {
    try (Connection connection = connect();
        CallableStatement call =
            connection.prepareCall("{? = call acquire_transaction_lock(?, ?)}")) {
      assertRefused(
          connection,
          "SELECT acquire_transaction_lock('job')",
          "25P01",
          "needs a transaction, with which the lock ends: begin one");
      call.registerOutParameter(1, Types.BIGINT);
      call.setString(2, "job");
      call.setLong(3, 1_000);
      assertEquals("25P01", assertThrows(SQLException.class, call::execute).getSQLState());
      update(connection, "BEGIN");
      call.execute();
      assertEquals(call.getLong(1), number(connection, "SELECT lock_token('job')"));
      assertEquals("22023", waitsFor(connection, "-1"));
      assertEquals("22023", waitsFor(connection, "INTERVAL '2' HOUR"));
      update(connection, "ROLLBACK");
      assertNull(numberOrNull(connection, "SELECT lock_token('job')"));
    }
  }

  private static String waitsFor(Connection connection, String wait) throws SQLException {
    return fails(connection, "SELECT acquire_transaction_lock('x', " + wait + ")").getSQLState();
  }

  @Test
  void transactionWritesUnderItsLock() throws SQLException {
    try (Connection connection = connect();
        Connection other = connect()) {
      update(connection, "CREATE TABLE t(v INT) FENCED BY LOCK 'job'");
      connection.setAutoCommit(false);
      number(connection, "SELECT acquire_transaction_lock('job')");
      assertEquals(1, update(connection, "INSERT INTO t VALUES (1)"));
      connection.commit();
      number(connection, "SELECT acquire_transaction_lock('job')");
      update(connection, "INSERT INTO t VALUES (2)");
      assertEquals(true, value(other, "SELECT force_release_lock('job')"));
      assertEquals("23T01", assertThrows(SQLException.class, connection::commit).getSQLState());
      assertEquals(1, number(connection, "SELECT COUNT(*) FROM t"));
      connection.setAutoCommit(true);
    }
  }

  @Test
  void statementTakesItsLockAndGivesItBack() throws Exception {
    try (Connection holder = connect();
        Connection writer = connect("lockTimeout=1m");
        Connection hasty = connect("lockTimeout=50ms")) {
      update(writer, "CREATE TABLE t(id INT PRIMARY KEY, v INT) FENCED BY LOCK 'job'");
      assertEquals(1, update(writer, "INSERT INTO t VALUES (1, 0) LOCKED BY 'job'"));
      assertNull(numberOrNull(writer, "SELECT lock_token('job')"));
      assertEquals("23T02", fails(writer, "UPDATE t SET v = 1").getSQLState());
      assertEquals("23T02", fails(writer, "UPDATE t SET v = 1 LOCKED BY 'other'").getSQLState());
      number(holder, "SELECT acquire_lock('job')");
      assertRefused(
          hasty, "UPDATE t SET v = 1 LOCKED BY 'job'", "HYT00", "lock 'job' was not free");
      CompletableFuture<Long> waiting =
          async(() -> update(writer, "UPDATE t SET v = v + 1 LOCKED BY 'job'"));
      await().atMost(DEADLINE).until(() -> waiters(holder) == 1);
      assertFalse(waiting.isDone());
      value(holder, "SELECT release_lock('job')");
      assertEquals(1L, waiting.get(30, TimeUnit.SECONDS));
      assertEquals(1, number(holder, "SELECT v FROM t"));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          INSERT INTO t VALUES (2, 2)                     | 1
          UPDATE t SET v = v + 1 WHERE id = 1             | 1
          DELETE FROM t WHERE id = 9                      | 0
          MERGE INTO t KEY (id) VALUES (1, 7)             | 1
          MERGE INTO t USING (VALUES (1, 8)) s (a, b) ON t.id = s.a WHEN MATCHED THEN UPDATE SET v = s.b | 1
          """)
  void everyChangeMayTakeItsLock(String sql, long count) throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE t(id INT PRIMARY KEY, v INT) FENCED BY LOCK 'job'");
      update(connection, "INSERT INTO t VALUES (1, 1) LOCKED BY 'job'");
      assertEquals(count, update(connection, sql + " LOCKED BY 'job'"));
      try (PreparedStatement statement = connection.prepareStatement(sql + " LOCKED BY ?")) {
        statement.setString(1, "");
        SQLException empty = assertThrows(SQLException.class, statement::executeUpdate);
        assertEquals("22023", empty.getSQLState());
        assertTrue(empty.getMessage().contains("the lock name is empty"), empty.getMessage());
      }
    }
  }

  @Test
  void eachExecutionOfABatchTakesItsOwnLock() throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE t(id INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name VARCHAR(9))"
              + " FENCED BY LOCK ('n-' || name)");
      try (PreparedStatement insert =
          connection.prepareStatement(
              "INSERT INTO t(name) VALUES (?) LOCKED BY ?", Statement.RETURN_GENERATED_KEYS)) {
        assertEquals(2, insert.getParameterMetaData().getParameterCount());
        for (String name : new String[] {"a", "b"}) {
          insert.setString(1, name);
          insert.setString(2, "n-" + name);
          insert.addBatch();
        }
        assertArrayEquals(new int[] {1, 1}, insert.executeBatch());
        try (ResultSet keys = insert.getGeneratedKeys()) {
          assertTrue(keys.next());
          assertEquals(1, keys.getInt(1));
          assertTrue(keys.next());
          assertEquals(2, keys.getInt(1));
        }
      }
      assertEquals(0, number(connection, "SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    }
  }

  @Test
  void statementWithALockOfItsOwnIsNotForTransactions() throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE t(v INT)");
      connection.setAutoCommit(false);
      assertRefused(
          connection,
          "INSERT INTO t VALUES (1) LOCKED BY 'job'",
          "25001",
          "in a transaction, call acquire_transaction_lock first");
      connection.rollback();
      connection.setAutoCommit(true);
      number(connection, "SELECT acquire_lock('job')");
      assertEquals(1, update(connection, "INSERT INTO t VALUES (1) LOCKED BY 'job'"));
      assertEquals(true, value(connection, "SELECT release_lock('job')"), "it was not taken away");
    }
  }

  @Test
  void leaseOfATransactionHasNoTime() throws SQLException {
    try (Connection connection = connect();
        Connection other = connect()) {
      connection.setAutoCommit(false);
      number(connection, "SELECT acquire_transaction_lock('job')");
      assertNull(value(other, "SELECT TTL_MS FROM TOLLGATE.LEASES WHERE LOCKS_HELD = 1"));
      assertNull(value(other, "SELECT REMAINING_MS FROM TOLLGATE.LEASES WHERE LOCKS_HELD = 1"));
      long lease = number(other, "SELECT LEASE_ID FROM TOLLGATE.LOCKS");
      assertRefused(
          other, "SELECT revoke_lease(" + lease + ")", "55T01", "belongs to a transaction");
      connection.rollback();
      assertEquals(0, number(other, "SELECT COUNT(*) FROM TOLLGATE.LEASES"));
    }
  }
}
