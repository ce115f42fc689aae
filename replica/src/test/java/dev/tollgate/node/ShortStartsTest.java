package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An embedded node that is opened for a moment, again and again. */
class ShortStartsTest {
  private static final long TTL_MILLIS = 2_000;
  private static final long RUN_MILLIS = 300;
  private static final int RUNS = 8;

  @TempDir Path directory;

  @Test
  void aLeaseOfADeadProcessEndsAfterItsTtlOfRunsHoweverShortTheyAre() throws Exception {
    try (Connection connection = connect()) {
      assertEquals(1, number(connection, "SELECT create_lease(" + TTL_MILLIS + ", 'dead')"));
      assertEquals(1, number(connection, "SELECT acquire_lock('job', 1)"));
    }
    long before = TTL_MILLIS;
    int runs = 0;
    for (long left = before; left >= 0; runs++) {
      assertTrue(runs < RUNS, "after " + runs + " runs the lease has " + left + " ms left");
      left = run();
      assertTrue(left < before, left + " ms left after a run, " + before + " ms before it");
      before = left;
    }
    try (Connection connection = connect()) {
      assertEquals(2, number(connection, "SELECT try_acquire_lock('job')"));
    }
  }

  /** Lets a node run for a moment of the lease; what that has left then, -1 if it has ended. */
  private long run() throws Exception {
    try (Connection connection = connect()) {
      long begun = remaining(connection);
      long left = begun;
      while (left > Math.max(-1, begun - RUN_MILLIS)) {
        left = remaining(connection);
      }
      return left;
    }
  }

  private static long remaining(Connection connection) throws SQLException {
    return number(
        connection,
        "SELECT COALESCE(MAX(REMAINING_MS), -1) FROM TOLLGATE.LEASES WHERE LEASE_ID = 1");
  }

  private static long number(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      assertTrue(rows.next());
      return rows.getLong(1);
    }
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection("jdbc:tollgate:embedded:" + directory);
  }
}
