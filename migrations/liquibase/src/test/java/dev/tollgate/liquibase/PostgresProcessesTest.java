package dev.tollgate.liquibase;

import dev.tollgate.migrations.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** On PostgreSQL, where a change set is one transaction. */
@Tag("nightly")
class PostgresProcessesTest extends ServerProcesses {
  @RegisterExtension static final PostgresServer postgres = new PostgresServer();

  @Override
  String url() {
    return postgres.url();
  }

  @Override
  Connection connectToEmpty() throws SQLException {
    Connection connection = DriverManager.getConnection(postgres.url());
    try (Statement statement = connection.createStatement()) {
      statement.execute("DROP SCHEMA IF EXISTS public CASCADE");
      statement.execute("CREATE SCHEMA public");
    }
    return connection;
  }

  @Override
  String createTable() {
    return "CREATE TABLE";
  }

  @Override
  String countOfWaiting() {
    return "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
  }
}
