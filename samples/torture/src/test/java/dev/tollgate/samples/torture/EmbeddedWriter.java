package dev.tollgate.samples.torture;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * An application with a node in its JVM. It says what it finds, then what it is granted, and then
 * each row once the row is acknowledged, until it is killed.
 */
final class EmbeddedWriter {
  static final String FOUND = "found ";
  static final String TOKEN = "token ";
  static final String ROW = "row ";

  private EmbeddedWriter() {}

  /**
   * @param arguments the directory of the node
   */
  public static void main(String[] arguments) throws SQLException {
    try (Connection connection =
            DriverManager.getConnection("jdbc:tollgate:embedded:" + arguments[0]);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS ROWS_WRITTEN (ID INT PRIMARY KEY, V VARCHAR)");
      long rows = one(statement, "SELECT COUNT(*) FROM ROWS_WRITTEN");
      long last = one(statement, "SELECT COALESCE(MAX(ID), -1) FROM ROWS_WRITTEN");
      say(FOUND + rows + " " + last);
      say(
          TOKEN
              + one(
                  statement,
                  "SELECT acquire_lock('writer', "
                      + one(statement, "SELECT create_lease(1000)")
                      + ", 60000)"));
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO ROWS_WRITTEN VALUES (?, ?)")) {
        for (int id = (int) last + 1; ; id++) {
          insert.setInt(1, id);
          insert.setString(2, "v".repeat(id % 2_000));
          insert.executeUpdate();
          say(ROW + id);
        }
      }
    }
  }

  private static long one(Statement statement, String sql) throws SQLException {
    try (ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
