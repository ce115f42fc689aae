package dev.tollgate.node;

import static dev.tollgate.node.TestSql.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Strings that Java's UTF-8 would write as others: they are kept as they are, or refused. */
class TextsTest {
  /** U+1F600 is D83D DE00; what comes before and after is no more than a half. */
  private static final List<String> STRANGE =
      List.of(
          "\ud83d",
          "\ud83e",
          "\ude00",
          "\ude00\ud83d",
          "a\ud83d",
          "\ud83dz",
          "?",
          "\u0000",
          "a\u0000b",
          "\ud83d\ude00",
          "\ud83d\ud83d\ude00",
          "\uffff",
          "\ufffd",
          "\ufeff");

  @TempDir Path directory;

  @Test
  void rowsWithUnpairedSurrogatesComeBackFromASnapshotAndFromTheLog() throws SQLException {
    String url = "jdbc:tollgate:embedded:" + directory;
    try (Connection connection = DriverManager.getConnection(url)) {
      run(connection, "CREATE TABLE T(K VARCHAR PRIMARY KEY, C CHAR(3) ARRAY)");
      insert(connection, STRANGE.subList(0, 7));
      run(connection, "CALL take_snapshot()");
      insert(connection, STRANGE.subList(7, STRANGE.size()));
      assertEquals(codes(STRANGE), codes(keys(connection)));
    }
    try (Connection connection = DriverManager.getConnection(url)) {
      assertEquals(codes(STRANGE), codes(keys(connection)));
      run(connection, "CALL take_snapshot()");
    }
    try (Connection connection = DriverManager.getConnection(url)) {
      assertEquals(codes(STRANGE), codes(keys(connection)));
      assertEquals(1, update(connection, "DELETE FROM T WHERE K = SUBSTRING('😀', 1, 1)"));
      assertEquals(1, update(connection, "DELETE FROM T WHERE K = SUBSTRING('😀', 2, 1)"));
      assertEquals(0, update(connection, "DELETE FROM T WHERE K = SUBSTRING('😀', 1, 1)"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT acquire_lock(SUBSTRING('😀', 1, 1))",
        "SELECT try_acquire_lock('a' || SUBSTRING('😀', 2, 1))",
        "SELECT release_lock(SUBSTRING('😀', 1, 1))",
        "SELECT force_release_lock(SUBSTRING('😀', 1, 1))",
        "SELECT holds_lock(SUBSTRING('😀', 1, 1), 1)",
        "SELECT lock_token(SUBSTRING('😀', 1, 1))",
        "SELECT create_lease(60000, SUBSTRING('😀', 1, 1))",
        "INSERT INTO T SELECT lock_token(SUBSTRING('😀', 1, 1))",
        "INSERT INTO R VALUES(SUBSTRING('😀', 1, 1))",
      })
  void nameWithAnUnpairedSurrogateIsRefused(String sql) throws SQLException {
    try (Connection connection = connectToMemory()) {
      run(connection, "CREATE TABLE T(N BIGINT)");
      run(connection, "CREATE TABLE R(K VARCHAR) FENCED BY LOCK (K)");
      SQLException refused = assertThrows(SQLException.class, () -> run(connection, sql));
      assertEquals("22021", refused.getSQLState(), refused.getMessage());
      run(connection, "SELECT acquire_lock('fine')");
    }
  }

  @Test
  void parameterWithAnUnpairedSurrogateNamesNoLock() throws SQLException {
    try (Connection connection = connectToMemory()) {
      for (String sql :
          List.of(
              "SELECT acquire_lock(?)",
              "SET FENCING TOKEN 1 FOR LOCK ?",
              "SET FENCED BY LOCK ? TOKEN 1")) {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
          statement.setString(1, "a\ud83db");
          SQLException refused = assertThrows(SQLException.class, statement::execute);
          assertEquals("22021", refused.getSQLState(), refused.getMessage());
        }
      }
    }
  }

  private static Connection connectToMemory() throws SQLException {
    return DriverManager.getConnection("jdbc:tollgate:mem:" + UUID.randomUUID());
  }

  private static void insert(Connection connection, List<String> keys) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO T VALUES(?, NULL)")) {
      for (String key : keys) {
        insert.setString(1, key);
        insert.executeUpdate();
      }
    }
  }

  private static List<String> keys(Connection connection) throws SQLException {
    List<String> keys = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT K FROM T")) {
      while (rows.next()) {
        keys.add(rows.getString(1));
      }
    }
    return keys;
  }

  private static List<String> codes(List<String> texts) {
    return texts.stream().map(TextsTest::codes).sorted().toList();
  }

  private static String codes(String text) {
    StringBuilder codes = new StringBuilder();
    text.chars().forEach(c -> codes.append(String.format("%04x ", c)));
    return codes.toString();
  }

  private static int update(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return statement.executeUpdate(sql);
    }
  }
}
