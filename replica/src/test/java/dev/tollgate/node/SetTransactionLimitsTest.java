package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The limits of transactions as clients set and meet them. */
class SetTransactionLimitsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir Path directory;

  private static String limits(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      assertTrue(row.next());
      String found = row.getLong("AGE_MS") + " " + row.getLong("IDLE_MS");
      assertFalse(row.next());
      return found;
    }
  }

  @Test
  void limitsOutliveARestartFromTheLogAndFromASnapshot() throws Exception {
    String url = "jdbc:tollgate:embedded:" + directory.resolve("node");
    String view = "SELECT * FROM TOLLGATE.TRANSACTION_LIMITS";
    try (Connection connection = DriverManager.getConnection(url)) {
      assertEquals("600000 60000", limits(connection, view));
      assertEquals(
          "3600000 120000",
          limits(connection, "CALL set_transaction_limits(INTERVAL '1' HOUR, 120000)"));
    }
    try (Connection connection = DriverManager.getConnection(url)) {
      assertEquals("3600000 120000", limits(connection, view));
      try (PreparedStatement call =
          connection.prepareStatement("CALL set_transaction_limits(?, ?)")) {
        call.setLong(1, 7_200_000);
        call.setLong(2, 90_000);
        assertTrue(call.execute());
      }
      limitsAfterSnapshot(connection);
    }
    try (Connection connection = DriverManager.getConnection(url)) {
      assertEquals("7200000 90000", limits(connection, view));
    }
  }

  private static void limitsAfterSnapshot(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CALL take_snapshot()");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "999, 1000 | age has to be from 1000 to 86400000 ms, not 999",
        "1000, 86400001 | idle has to be from 1000 to 86400000 ms, not 86400001",
        "'x', 1000 | age in milliseconds",
        "1000, NULL | idle is NULL"
      },
      quoteCharacter = '`')
  void whatIsOutOfBoundsIsRefused(String arguments, String why) throws Exception {
    try (Connection connection = DriverManager.getConnection("jdbc:tollgate:mem:bounds");
        Statement statement = connection.createStatement()) {
      String call = "CALL set_transaction_limits(" + arguments + ")";
      SQLException refused = assertThrows(SQLException.class, () -> statement.execute(call));
      assertEquals("22023", refused.getSQLState());
      assertTrue(refused.getMessage().contains(why), refused.getMessage());
    }
  }

  @Test
  void transactionThatIdlesBeyondTheLimitIsRolledBackAndToldSo() throws Exception {
    try (Connection operator = DriverManager.getConnection("jdbc:tollgate:mem:idle");
        Connection connection = DriverManager.getConnection("jdbc:tollgate:mem:idle");
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY)");
      assertEquals("5000 1000", limits(operator, "CALL set_transaction_limits(5000, 1000)"));
      connection.setAutoCommit(false);
      statement.execute("INSERT INTO T VALUES(1)");
      await().atMost(DEADLINE).until(() -> !hasTransactions(operator));
      SQLException lost = assertThrows(SQLException.class, connection::commit);
      assertEquals("40001", lost.getSQLState());
      assertTrue(lost.getMessage().contains("nothing came for 1 s"), lost.getMessage());
      assertTrue(lost.getMessage().contains("set_transaction_limits"), lost.getMessage());
    }
  }

  private static boolean hasTransactions(Connection operator) throws SQLException {
    try (Statement statement = operator.createStatement();
        ResultSet rows = statement.executeQuery("SELECT * FROM TOLLGATE.TRANSACTIONS")) {
      return rows.next();
    }
  }
}
