package dev.tollgate.samples.hikari;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.jdbc.TollgateDataSource;
import dev.tollgate.samples.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a pool may be told about its connections, and what it does to them. */
class PoolSettingsTest {
  @RegisterExtension final TestDatabase node = new TestDatabase();

  private HikariConfig config() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(node.url());
    config.setMaximumPoolSize(1);
    return config;
  }

  @Test
  void settingsReachTheConnection() throws SQLException {
    node.ask("CREATE SCHEMA app");
    HikariConfig config = config();
    config.setSchema("APP");
    config.setCatalog("TOLLGATE");
    config.setReadOnly(true);
    config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    config.setConnectionInitSql("SELECT 1");
    config.setConnectionTestQuery("SELECT 1");
    config.setDriverClassName("dev.tollgate.jdbc.TollgateDriver");
    config.addDataSourceProperty("applicationName", "billing");
    try (HikariDataSource pool = new HikariDataSource(config);
        Connection connection = pool.getConnection()) {
      assertEquals("APP", TestDatabase.ask(connection, "SELECT CURRENT_SCHEMA"));
      assertTrue(connection.isReadOnly());
      assertEquals(
          "1", node.ask("SELECT COUNT(*) FROM tollgate.sessions WHERE application = 'billing'"));
    }
  }

  @Test
  void whatAUserChangesIsChangedBack() throws SQLException {
    node.ask("CREATE SCHEMA app");
    HikariConfig config = config();
    // or else the pool leaves the schema as the last user left it
    config.setSchema("PUBLIC");
    try (HikariDataSource pool = new HikariDataSource(config)) {
      try (Connection connection = pool.getConnection()) {
        connection.setSchema("APP");
        connection.setReadOnly(true);
        connection.setNetworkTimeout(Runnable::run, 5_000);
      }
      try (Connection connection = pool.getConnection()) {
        assertEquals("PUBLIC", connection.getSchema());
        assertEquals(false, connection.isReadOnly());
        assertEquals(0, connection.getNetworkTimeout());
      }
    }
  }

  /** Why samples/README.md says to write the token into the statement. */
  @Test
  void tokenOfTheSessionIsThereForTheNextUser() throws SQLException {
    node.ask("CREATE TABLE t(v INT) FENCED BY LOCK 'job'");
    String token = node.ask("SELECT acquire_lock('job')");
    try (HikariDataSource pool = new HikariDataSource(config())) {
      try (Connection connection = pool.getConnection()) {
        TestDatabase.ask(connection, "SET FENCING TOKEN " + token + " FOR LOCK 'job'");
      }
      try (Connection connection = pool.getConnection()) {
        assertEquals("1", TestDatabase.ask(connection, "INSERT INTO t VALUES (1)"));
      }
    }
  }

  @Test
  void refusedStatementsCostNoConnection() throws SQLException {
    node.ask("CREATE TABLE t(v INT) FENCED BY LOCK 'job'");
    try (HikariDataSource pool = new HikariDataSource(config())) {
      String session = "";
      for (String sql :
          new String[] {
            "INSERT INTO t VALUES (1)",
            "INSERT INTO t VALUES (1) FENCED BY LOCK 'job' TOKEN 7",
            "SELECT renew_lease(4711)",
            "SELECT nonsense",
            "CREATE ALIAS f FOR 'java.lang.Math.abs'"
          }) {
        try (Connection connection = pool.getConnection()) {
          assertThrows(SQLException.class, () -> TestDatabase.ask(connection, sql), sql);
        }
        String now = node.ask("SELECT MAX(session_id) FROM tollgate.sessions");
        assertEquals(session.isEmpty() ? now : session, now, sql);
        session = now;
      }
    }
  }

  @Test
  void dataSourceInsteadOfAUrl() throws SQLException {
    TollgateDataSource cluster = new TollgateDataSource();
    cluster.setUrl(node.url());
    HikariConfig config = new HikariConfig();
    config.setDataSource(cluster);
    try (HikariDataSource pool = new HikariDataSource(config);
        Connection connection = pool.getConnection()) {
      assertEquals("1", TestDatabase.ask(connection, "SELECT 1"));
    }
  }

  @Test
  void poolWithoutAutocommitRollsBackWhatWasNotCommitted() throws SQLException {
    node.ask("CREATE TABLE t(v INT)");
    HikariConfig config = config();
    config.setAutoCommit(false);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      try (Connection connection = pool.getConnection();
          Statement statement = connection.createStatement()) {
        statement.executeUpdate("INSERT INTO t VALUES(1)");
        connection.commit();
        statement.executeUpdate("INSERT INTO t VALUES(2)");
      }
      assertEquals("1", node.ask("SELECT COUNT(*) FROM t"));
    }
  }
}
