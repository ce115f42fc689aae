package dev.tollgate.contract;

import dev.tollgate.migrations.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@link dev.tollgate.lock.Fence} in PostgreSQL. Skipped where it is not installed. */
class FenceOnPostgresTest extends FenceContract {
  @RegisterExtension static final PostgresServer postgres = new PostgresServer();

  @Override
  Connection connect() throws SQLException {
    return DriverManager.getConnection(postgres.url());
  }

  @Override
  long waiting(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")) {
      row.next();
      return row.getLong(1);
    }
  }
}
