package dev.tollgate.jdbc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.fake.FakeCluster;
import dev.tollgate.wire.Request;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HikariTest {
  private FakeCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = FakeCluster.start(2);
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private HikariConfig config() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(cluster.url(""));
    config.setMaximumPoolSize(3);
    config.setConnectionTimeout(5_000);
    return config;
  }

  private static int one(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      assertTrue(rows.next());
      return rows.getInt(1);
    }
  }

  @Test
  void aPoolByUrl() throws Exception {
    try (HikariDataSource pool = new HikariDataSource(config())) {
      for (int i = 0; i < 20; i++) {
        try (Connection connection = pool.getConnection()) {
          assertEquals(i, one(connection, "SELECT " + i));
        }
      }
    }
    await().until(() -> cluster.openSessions() == 0);
  }

  @Test
  void aPoolByDataSourceClassAndWithEverySettingThatIsReset() throws Exception {
    HikariConfig config = new HikariConfig();
    config.setDataSourceClassName(TollgateDataSource.class.getName());
    config.addDataSourceProperty("url", cluster.url(""));
    config.addDataSourceProperty("lease", "9s");
    config.addDataSourceProperty("fetchSize", 50);
    config.setUsername("jo");
    config.setMaximumPoolSize(1);
    config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    config.setSchema("PUBLIC");
    config.setCatalog("X");
    config.setReadOnly(true);
    config.setConnectionInitSql("SELECT 1");
    config.setConnectionTestQuery("SELECT 2");
    try (HikariDataSource pool = new HikariDataSource(config)) {
      try (Connection connection = pool.getConnection()) {
        assertTrue(connection.isReadOnly());
        connection.setReadOnly(false);
        connection.setNetworkTimeout(Runnable::run, 5_000);
        connection.setSchema("INFORMATION_SCHEMA");
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.rollback();
        connection.commit();
      }
      try (Connection connection = pool.getConnection()) {
        assertTrue(connection.isReadOnly());
        assertEquals(0, connection.getNetworkTimeout());
        assertEquals("PUBLIC", connection.getSchema());
      }
      assertEquals(1, pool.getHikariPoolMXBean().getTotalConnections());
    }
  }

  /** As Hibernate does: every use borrows a connection, prepares, executes and closes. */
  @Test
  void pooledConnectionPreparesATextOnce() throws Exception {
    HikariConfig config = config();
    config.setMaximumPoolSize(1);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      int executed = cluster.received().size();
      for (int i = 0; i < 5; i++) {
        try (Connection connection = pool.getConnection();
            PreparedStatement query = connection.prepareStatement("SELECT COUNT(*) FROM DUAL")) {
          assertTrue(query.executeQuery().next());
        }
      }
      assertEquals(executed + 5, cluster.received().size());
      assertEquals(1, cluster.others(Request.Prepare.class).size());
    }
  }

  @Test
  void statementErrorsDoNotCostTheConnection() throws Exception {
    HikariConfig config = config();
    config.setMaximumPoolSize(1);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      long session = session(pool);
      try (Connection connection = pool.getConnection()) {
        assertThrows(SQLException.class, () -> one(connection, "SELECT * FROM NOWHERE"));
        cluster.node(0).holdStatements();
        try (Statement statement = connection.createStatement()) {
          statement.setQueryTimeout(1);
          assertThrows(SQLException.class, () -> statement.executeQuery("SELECT 1"));
          cluster.node(0).holdNothing();
          statement.setQueryTimeout(0);
        }
      }
      assertEquals(session, session(pool));
    }
  }

  private static long session(HikariDataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      return connection.unwrap(dev.tollgate.transport.ClusterSession.class).id();
    }
  }

  @Test
  void aFailoverDoesNotCostTheConnection() throws Exception {
    HikariConfig config = config();
    config.setMaximumPoolSize(1);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      long session = session(pool);
      cluster.lead(cluster.node(1));
      cluster.node(0).stop();
      try (Connection connection = pool.getConnection()) {
        assertEquals(7, one(connection, "SELECT 7"));
      }
      assertEquals(session, session(pool));
    }
  }

  @Test
  void aDeadConnectionIsReplaced() throws Exception {
    HikariConfig config = config();
    config.setMaximumPoolSize(1);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      long session = session(pool);
      cluster.loseSessions();
      try (Connection connection = pool.getConnection()) {
        SQLException e = assertThrows(SQLException.class, () -> one(connection, "SELECT 1"));
        assertEquals("08006", e.getSQLState());
      }
      assertTrue(session != session(pool));
    }
  }

  @Test
  void aPoolWithoutAutocommitRollsBackWhatWasNotCommitted() throws Exception {
    HikariConfig config = config();
    config.setAutoCommit(false);
    config.setMaximumPoolSize(1);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      try (Connection connection = pool.getConnection();
          Statement statement = connection.createStatement()) {
        statement.executeUpdate("CREATE TABLE T(V INT)");
        statement.executeUpdate("INSERT INTO T VALUES(1)");
        connection.commit();
        statement.executeUpdate("INSERT INTO T VALUES(2)");
      }
      try (Connection connection = pool.getConnection()) {
        assertEquals(1, one(connection, "SELECT COUNT(*) FROM T"));
      }
    }
  }

  @Test
  void aPoolThatIsShutDownLeavesNothing() throws Exception {
    HikariDataSource pool = new HikariDataSource(config());
    try (Connection connection = pool.getConnection()) {
      assertFalse(connection.isClosed());
      pool.close();
    }
    await().until(() -> cluster.node(0).openConnections() == 0);
  }
}
