package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A connection that leaves its results open. */
@Timeout(60)
class OpenResultsTest {
  private static ResultSet open(Connection connection, String sql) throws SQLException {
    Statement statement = connection.createStatement();
    statement.setFetchSize(1);
    return statement.executeQuery(sql);
  }

  @Test
  void refusalNamesTheStatementsThatHoldTheResults() throws Exception {
    try (Connection connection =
        DriverManager.getConnection("jdbc:tollgate:mem:" + UUID.randomUUID())) {
      ResultSet first = open(connection, "SELECT X, 'hunter2' FROM SYSTEM_RANGE(1, 7)");
      String wide = "SELECT X" + ", X".repeat(100) + " FROM SYSTEM_RANGE(1, 2)";
      ResultSet second = open(connection, wide);
      for (int i = 2; i < 98; i++) {
        open(connection, "SELECT X FROM SYSTEM_RANGE(1, " + (i + 1) + ") WHERE X > 0");
      }
      open(connection, "SELECT X + 1 FROM SYSTEM_RANGE(1, 2)");
      open(connection, "SELECT X + 1, 2 FROM SYSTEM_RANGE(1, 2)");
      // a result that was fetched from keeps its place
      assertTrue(first.next());
      assertTrue(first.next());
      SQLException refused =
          assertThrows(
              SQLException.class, () -> open(connection, "SELECT X FROM SYSTEM_RANGE(1, 2)"));
      String message = String.valueOf(refused.getMessage());
      assertEquals("53300", refused.getSQLState());
      assertTrue(
          message.contains("100 results open") && message.contains("oldest first: 1 of SELECT"),
          message);
      assertTrue(message.contains("; 96 of SELECT "), message);
      assertTrue(message.contains("...; 96 of"), message);
      assertTrue(message.contains("; and those of 2 other statements. Close each"), message);
      assertFalse(message.contains("hunter2"), message);
      second.close();
      assertTrue(open(connection, "SELECT X FROM SYSTEM_RANGE(1, 2)").next());
    }
  }
}
