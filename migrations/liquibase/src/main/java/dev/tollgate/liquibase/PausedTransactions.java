package dev.tollgate.liquibase;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import liquibase.database.Database;
import liquibase.database.core.PostgresDatabase;

/**
 * How long PostgreSQL keeps a transaction whose client is silent. A runner that is paused within a
 * transaction keeps the row of the fence locked, and the next run waits for it.
 */
final class PausedTransactions {
  private static final String SETTING = "idle_in_transaction_session_timeout";

  /** A change in Java may compute for a while between two statements. */
  private static final int LEASES = 4;

  private final Connection connection;
  private final boolean bounded;

  private PausedTransactions(Connection connection, boolean bounded) {
    this.connection = requireNonNull(connection, "connection");
    this.bounded = bounded;
  }

  /**
   * Bounds the pauses of a session that has no bound yet.
   *
   * @param connection in autocommit
   */
  static PausedTransactions bound(Database database, Connection connection, Duration lease)
      throws SQLException {
    boolean unbounded = database instanceof PostgresDatabase && millis(connection) == 0;
    if (unbounded) {
      set(connection, lease.multipliedBy(LEASES).toMillis());
    }
    return new PausedTransactions(connection, unbounded);
  }

  private static long millis(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT setting FROM pg_settings WHERE name = '" + SETTING + "'")) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  private static void set(Connection connection, long millis) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET " + SETTING + " = " + millis);
    }
  }

  /** Leaves the session as it was; the connection is in autocommit. */
  void unbound() throws SQLException {
    if (bounded) {
      set(connection, 0);
    }
  }
}
