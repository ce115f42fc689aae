package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** How the tests of the contract reach a database, and what they ask it. */
abstract class ContractClients {
  static final Duration DEADLINE = Duration.ofSeconds(30);

  /** A connection to this test's database, with these URL properties; the test closes it. */
  abstract Connection connect(String properties) throws SQLException;

  /** Ends a connection for good. */
  void end(Connection connection) throws SQLException {
    connection.close();
  }

  Connection connect() throws SQLException {
    return connect("");
  }

  static void assertRefused(Connection connection, String sql, String sqlState, String sentence)
      throws SQLException {
    SQLException refused = fails(connection, sql);
    assertEquals(sqlState, refused.getSQLState(), refused.getMessage());
    assertTrue(refused.getMessage().contains(sentence), refused.getMessage());
  }

  /** Runs on another thread what has to wait. */
  static <T> CompletableFuture<T> async(Callable<T> work) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return work.call();
          } catch (Exception e) {
            throw new CompletionException(e);
          }
        });
  }

  static long waiters(Connection connection) throws SQLException {
    return number(connection, "SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS");
  }

  static SQLException fails(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return assertThrows(SQLException.class, () -> statement.execute(sql));
    }
  }

  static long update(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return statement.executeLargeUpdate(sql);
    }
  }

  static long number(Connection connection, String sql) throws SQLException {
    Long number = numberOrNull(connection, sql);
    assertTrue(number != null, sql + " gave NULL");
    return number;
  }

  static Long numberOrNull(Connection connection, String sql) throws SQLException {
    Object value = value(connection, sql);
    return value == null ? null : (Long) ((Number) value).longValue();
  }

  static Object value(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      return only(statement);
    }
  }

  static Object only(PreparedStatement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      assertTrue(row.next());
      Object value = row.getObject(1);
      assertFalse(row.next());
      return value;
    }
  }
}
