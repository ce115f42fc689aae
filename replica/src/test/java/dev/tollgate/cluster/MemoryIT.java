package dev.tollgate.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A node with a heap of 300 MB, which ends itself when memory runs out, is never brought to it.
 * Each query has a node of its own: a node that was full a moment ago refuses the next query early.
 */
class MemoryIT {
  private static final int LOCKS = 500_000;
  private static final int LOCKS_AT_A_TIME = 1_000;

  @TempDir Path directory;
  private NodeProcess node;
  private String url;

  @BeforeEach
  void start() throws Exception {
    int client = Ports.free();
    int raft = Ports.free();
    node =
        new NodeProcess(
            "n1",
            directory.resolve("data"),
            directory.resolve("n1.log"),
            client,
            raft,
            "--peers=n1=127.0.0.1:" + raft);
    node.startAndAwait();
    url = "jdbc:tollgate://127.0.0.1:" + client + "/";
  }

  @AfterEach
  void stop() {
    node.close();
  }

  /** One after the other at one node, which stays as well as it was. */
  @Test
  void queryThatNeedsMoreThanThereIsEndsWithAnError() throws SQLException {
    for (String sql :
        List.of(
            "SELECT * FROM SYSTEM_RANGE(1, 1000000000)",
            "SELECT A.X, B.X FROM SYSTEM_RANGE(1, 100000) A, SYSTEM_RANGE(1, 100000) B ORDER BY"
                + " B.X, A.X",
            "SELECT X, SUM(X) OVER (ORDER BY X) FROM SYSTEM_RANGE(1, 1000000000)",
            "SELECT LISTAGG(REPEAT('x', 1000), '') FROM SYSTEM_RANGE(1, 1000000)",
            "SELECT JSON_ARRAYAGG(REPEAT('x', 1000)) FROM SYSTEM_RANGE(1, 1000000)")) {
      requireRefused(sql);
    }
  }

  @Tag("nightly")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT ARRAY_AGG(X) FROM SYSTEM_RANGE(1, 1000000000)",
        "SELECT COUNT(DISTINCT X) FROM SYSTEM_RANGE(1, 1000000000)",
        "WITH RECURSIVE R(N) AS (SELECT 1 UNION ALL SELECT N + 1 FROM R) SELECT * FROM R",
        "SELECT LISTAGG(X) WITHIN GROUP (ORDER BY X) FROM SYSTEM_RANGE(1, 1000000000)"
      })
  void otherQueryThatNeedsMoreThanThereIsEndsWithAnError(String sql) throws SQLException {
    requireRefused(sql);
  }

  private void requireRefused(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      SQLException failure = null;
      try (ResultSet rows = statement.executeQuery(sql)) {
        rows.next();
      } catch (SQLException e) {
        failure = e;
      }
      assertNotNull(failure);
      // a value that becomes too long ends its query, too, if there is memory for that
      assertTrue(Set.of("53200", "22001").contains(failure.getSQLState()), failure.getMessage());
      assertTrue(node.isAlive());
      try (ResultSet row = statement.executeQuery("SELECT 1")) {
        assertTrue(row.next());
      }
    }
  }

  @Test
  void viewOfMoreLocksThanThereIsRoomForEndsWithAnError() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < LOCKS; i += LOCKS_AT_A_TIME) {
        String call =
            "SELECT COUNT(try_acquire_lock('lock-' || X)) FROM SYSTEM_RANGE("
                + (i + 1)
                + ", "
                + (i + LOCKS_AT_A_TIME)
                + ")";
        try (ResultSet count = statement.executeQuery(call)) {
          assertTrue(count.next());
          assertEquals(LOCKS_AT_A_TIME, count.getInt(1));
        }
      }
      SQLException failure =
          assertThrows(
              SQLException.class,
              () -> statement.executeQuery("SELECT * FROM TOLLGATE.LOCKS ORDER BY LOCK_NAME"));
      assertEquals("53200", failure.getSQLState(), failure.getMessage());
      try (ResultSet held = statement.executeQuery("SELECT lock_token('lock-1')")) {
        assertTrue(held.next());
        assertEquals(1, held.getLong(1));
      }
    }
    assertTrue(node.isAlive());
  }

  @Tag("nightly")
  @Test
  void databaseThatIsFilledSlowlyEndsInErrorsAndCanBeEmptied() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID BIGINT GENERATED ALWAYS AS IDENTITY, S VARCHAR)");
      SQLException refused = null;
      int inserted = 0;
      try (PreparedStatement insert = connection.prepareStatement("INSERT INTO T(S) VALUES(?)")) {
        while (refused == null && inserted < 10_000) {
          insert.setString(1, inserted + "x".repeat(200_000));
          try {
            insert.executeUpdate();
            inserted++;
          } catch (SQLException e) {
            refused = e;
          }
        }
      }
      assertNotNull(refused, "inserted " + inserted);
      assertEquals("53200", refused.getSQLState(), refused.getMessage());
      System.out.println("MemoryIT: refused after " + inserted + " rows of 200 kB");
      statement.addBatch("INSERT INTO T(S) VALUES('first of a series')");
      statement.addBatch("INSERT INTO T(S) VALUES('second of a series')");
      assertEquals(
          "53200", assertThrows(BatchUpdateException.class, statement::executeBatch).getSQLState());
      try (ResultSet token = statement.executeQuery("SELECT acquire_lock('job')")) {
        assertTrue(token.next());
      }
      assertTrue(statement.executeUpdate("DELETE FROM T") > 0);
      assertEquals(1, insertOnceThereIsRoom(statement));
    }
    assertTrue(node.isAlive());
  }

  /** The node believes its collector for some seconds. */
  private static int insertOnceThereIsRoom(Statement statement) throws SQLException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (true) {
      try {
        return statement.executeUpdate("INSERT INTO T(S) VALUES('y')");
      } catch (SQLException e) {
        if (!"53200".equals(e.getSQLState()) || System.nanoTime() > deadline) {
          throw e;
        }
      }
    }
  }
}
