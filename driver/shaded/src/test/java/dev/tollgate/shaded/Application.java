package dev.tollgate.shaded;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.Collectors;

/**
 * What an application does, in a JVM of its own: it knows java.sql and nothing else. It prints what
 * it sees, and PublishedJarIT compares.
 */
@SuppressWarnings("SystemOut")
public final class Application {
  private Application() {}

  /**
   * @param urls a Tollgate URL, and an H2 URL if there is an H2
   */
  public static void main(String[] urls) throws Exception {
    System.out.println(
        "drivers: "
            + DriverManager.drivers()
                .map(driver -> driver.getClass().getName())
                .sorted()
                .collect(Collectors.joining(",")));
    for (String url : urls) {
      try (Connection connection = DriverManager.getConnection(url)) {
        System.out.println("version: " + connection.getMetaData().getDatabaseProductVersion());
        use(connection);
      }
    }
    System.out.println("drivers after: " + DriverManager.drivers().count());
  }

  private static void use(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR, A INT ARRAY, J JSON, G GEOMETRY)");
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO T(ID, V, A) VALUES(?, ?, ?)")) {
        insert.setInt(1, 1);
        insert.setString(2, "x");
        insert.setArray(3, connection.createArrayOf("INTEGER", new Object[] {1, 2}));
        insert.executeUpdate();
        try {
          insert.executeUpdate();
        } catch (SQLException e) {
          System.out.println("by the database: " + e.getSQLState() + " " + e.getMessage());
        }
      }
      try (ResultSet rows = statement.executeQuery("SELECT * FROM T")) {
        rows.next();
        System.out.println("row: " + rows.getInt("ID") + rows.getString("V") + rows.getArray("A"));
        try {
          rows.getInt("NOTHING");
        } catch (SQLException e) {
          System.out.println("by the driver: " + e.getErrorCode() + " " + e.getMessage());
        }
      }
      try (ResultSet tables = connection.getMetaData().getTables(null, null, "T", null)) {
        System.out.println("table: " + tables.next());
      }
    }
  }
}
