package dev.tollgate.samples.migrations;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.flywaydb.core.Flyway;

/**
 * Flyway on Tollgate, twice at the same time: each script runs once. Then a program that does not
 * hold the lock tries to write the history.
 */
public final class TwoRuns {
  private TwoRuns() {}

  /**
   * @param arguments the URL of Tollgate
   */
  public static void main(String[] arguments) throws Exception {
    migrate(arguments[0]).forEach(System.out::println);
  }

  static List<String> migrate(String url) throws Exception {
    // a node in memory lives as long as there is a connection
    try (Connection connection = DriverManager.getConnection(url)) {
      int applied = migrateTwice(url);
      try (Statement statement = connection.createStatement();
          ResultSet city = statement.executeQuery("SELECT name, people FROM city")) {
        city.next();
        return List.of(
            "two runs applied " + applied + " scripts",
            city.getString(1) + " has " + city.getInt(2) + " people",
            "a write of the history without the lock: SQLSTATE " + refusedWrite(connection));
      }
    }
  }

  private static int migrateTwice(String url) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      Callable<Integer> run =
          () -> Flyway.configure().dataSource(url, null, null).load().migrate().migrationsExecuted;
      int applied = 0;
      for (Future<Integer> ended : threads.invokeAll(List.of(run, run))) {
        applied += ended.get();
      }
      return applied;
    } finally {
      threads.shutdown();
    }
  }

  private static String refusedWrite(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("DELETE FROM \"flyway_schema_history\"");
      throw new IllegalStateException("the history is not fenced");
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }
}
