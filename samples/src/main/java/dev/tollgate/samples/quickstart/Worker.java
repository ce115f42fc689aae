package dev.tollgate.samples.quickstart;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;

/**
 * "Only one worker should do this": acquires the lock, then writes one row after another into the
 * ledger, with the token that it got. The worker does nothing to find out whether it still holds
 * the lock. The store does.
 *
 * <p>Prints one line per step. Runs until it is killed, or ends with status {@value #REFUSED} when
 * the store refused its write.
 */
public final class Worker {
  /** Exit status after a refused write. */
  static final int REFUSED = 23;

  private static final String STALE_TOKEN = "23T01";
  private static final long PAUSE_MILLIS = 200;

  private Worker() {}

  /**
   * @param arguments name of the worker, JDBC URL
   */
  public static void main(String[] arguments) throws Exception {
    String name = arguments[0];
    String url = arguments[1];
    try (Connection connection = DriverManager.getConnection(url)) {
      say(name, "asks for lock 'payroll'");
      long token = acquire(connection);
      say(name, "holds it under token " + token);
      for (int row = 1; ; row++) {
        pay(connection, name, token, row);
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    } catch (SQLException e) {
      say(name, "was refused with SQLSTATE " + e.getSQLState() + ": " + firstLine(e));
      System.exit(STALE_TOKEN.equals(e.getSQLState()) ? REFUSED : 1);
    }
  }

  private static long acquire(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT acquire_lock('payroll')")) {
      row.next();
      long token = row.getLong(1);
      if (row.wasNull()) {
        throw new SQLException("the wait for the lock ran out", "HYT00");
      }
      return token;
    }
  }

  private static void pay(Connection connection, String name, long token, int row)
      throws SQLException {
    long start = System.nanoTime();
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO ledger(worker, token, payment) VALUES(?, ?, ?)"
                + " FENCED BY LOCK 'payroll' TOKEN ?")) {
      insert.setString(1, name);
      insert.setLong(2, token);
      insert.setInt(3, row);
      insert.setLong(4, token);
      insert.executeUpdate();
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    say(name, "wrote payment " + row + " in " + millis + " ms");
  }

  private static String firstLine(SQLException e) {
    return String.valueOf(e.getMessage()).split(";|\n", 2)[0];
  }

  private static void say(String name, String what) {
    System.out.println(name + " " + what);
    System.out.flush();
  }
}
