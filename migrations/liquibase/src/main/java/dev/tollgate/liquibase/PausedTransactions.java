package dev.tollgate.liquibase;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import liquibase.database.Database;
import liquibase.database.core.MariaDBDatabase;
import liquibase.database.core.PostgresDatabase;
import org.jspecify.annotations.Nullable;

/**
 * How long the server keeps a transaction whose client is silent, where it can be told. A runner
 * that is paused within a transaction keeps the row of the fence locked, and the next run waits for
 * it.
 */
final class PausedTransactions {
  /** A change in Java may compute for a while between two statements. */
  private static final int LEASES = 4;

  /**
   * A setting of the session.
   *
   * @param query answers the value; 0 is no bound
   * @param unit of the value
   */
  private record Setting(String name, String query, Duration unit) {
    static Optional<Setting> of(Database database) {
      if (database instanceof PostgresDatabase) {
        String name = "idle_in_transaction_session_timeout";
        return Optional.of(
            new Setting(
                name,
                "SELECT setting FROM pg_settings WHERE name = '" + name + "'",
                Duration.ofMillis(1)));
      }
      if (database instanceof MariaDBDatabase) {
        String name = "idle_transaction_timeout";
        return Optional.of(new Setting(name, "SELECT @@SESSION." + name, Duration.ofSeconds(1)));
      }
      return Optional.empty();
    }

    boolean isUnbounded(Connection connection) throws SQLException {
      try (Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery(query)) {
        return row.next() && row.getLong(1) == 0;
      }
    }

    void set(Connection connection, long value) throws SQLException {
      try (Statement statement = connection.createStatement()) {
        statement.execute("SET " + name + " = " + value);
      }
    }
  }

  private final Connection connection;
  private final @Nullable Setting bounded;

  private PausedTransactions(Connection connection, @Nullable Setting bounded) {
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
    Optional<Setting> setting = Setting.of(database);
    if (setting.isEmpty() || !setting.get().isUnbounded(connection)) {
      return new PausedTransactions(connection, null);
    }
    setting.get().set(connection, lease.multipliedBy(LEASES).dividedBy(setting.get().unit()));
    return new PausedTransactions(connection, setting.get());
  }

  /** Leaves the session as it was; the connection is in autocommit. */
  void unbound() throws SQLException {
    if (bounded != null) {
      bounded.set(connection, 0);
    }
  }
}
