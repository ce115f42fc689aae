package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.transport.SnapshotDownload;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots that somebody asks for, by SQL and over the wire. */
class SnapshotOnDemandTest {
  @TempDir Path directory;

  private String url() {
    return "jdbc:tollgate:embedded:" + directory.resolve("node");
  }

  @Test
  void callWritesOneAndNamesTheTwoThatAreKept() throws Exception {
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      assertEquals(0, count(statement.executeQuery("SELECT * FROM TOLLGATE.SNAPSHOTS")));
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY)");
      long first = newest(statement.executeQuery("CALL take_snapshot()"), 1);
      assertEquals(
          first,
          newest(statement.executeQuery("CALL take_snapshot()"), 1),
          "nothing has been applied since");
      statement.execute("INSERT INTO T VALUES(1)");
      long second = newest(statement.executeQuery("CALL take_snapshot()"), 2);
      assertTrue(second > first, second + " after " + first);
      statement.execute("INSERT INTO T VALUES(2)");
      long third = newest(statement.executeQuery("CALL take_snapshot()"), 2);
      assertTrue(third > second, third + " after " + second);
    }
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      assertEquals(2, count(statement.executeQuery("SELECT * FROM T")));
    }
  }

  @Test
  void nodeThatKeepsNothingSaysSo() throws Exception {
    try (Connection connection = DriverManager.getConnection("jdbc:tollgate:mem:");
        Statement statement = connection.createStatement()) {
      SQLException refused =
          assertThrows(SQLException.class, () -> statement.executeQuery("CALL take_snapshot()"));
      assertEquals("HYC00", refused.getSQLState());
      assertTrue(refused.getMessage().contains("keeps nothing"), refused.getMessage());
    }
  }

  @Test
  void downloadIsWholeThoughTheNodeHasRemovedTheFile() throws Exception {
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR)");
      statement.execute("INSERT INTO T SELECT X, REPEAT('v', 600) FROM SYSTEM_RANGE(1, 4500)");
      try (SnapshotDownload download = TollgateDriver.openSnapshot(url(), true)) {
        for (int i = 1; i <= 2; i++) {
          statement.execute("DELETE FROM T WHERE ID = " + i);
          newest(statement.executeQuery("CALL take_snapshot()"), 2);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        download.copyTo(bytes);
        assertEquals(download.opened().sizeBytes(), bytes.size());
        assertTrue(bytes.size() > 2 << 20, "several parts: " + bytes.size());
        SnapshotReader.check(new ByteArrayInputStream(bytes.toByteArray()));
      }
    }
  }

  private static int count(ResultSet rows) throws SQLException {
    int count = 0;
    while (rows.next()) {
      count++;
    }
    return count;
  }

  /** The log index of the newest of so many snapshots. */
  private static long newest(ResultSet rows, int expected) throws SQLException {
    int count = 0;
    long newest = 0;
    while (rows.next()) {
      count++;
      newest = rows.getLong("LOG_INDEX");
      assertTrue(rows.getLong("BYTES") > 0 && rows.getLong("TERM") > 0);
      assertTrue(rows.getTimestamp("WRITTEN_AT").getTime() > 0);
    }
    assertEquals(expected, count);
    return newest;
  }
}
