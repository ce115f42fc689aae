package dev.tollgate.samples.benchmark;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Fills a cluster with rows, locks, leases or sessions, so that their cost can be measured. */
@Command(
    name = "fill",
    description = "Rows, locks, leases, sessions or log entries.",
    mixinStandardHelpOptions = true)
final class Fill implements Callable<Integer> {
  private static final int BATCH = 5_000;

  @Option(names = "--tollgate", required = true, description = "JDBC URL")
  private String url;

  @Option(names = "--rows", description = "Rows of five columns, with a key and an index")
  private int rows;

  @Option(names = "--locks", description = "Locks, all held by one lease")
  private int locks;

  @Option(names = "--leases", description = "Leases that hold nothing")
  private int leases;

  @Option(names = "--sessions", description = "Connections, which stay open until input ends")
  private int sessions;

  @Option(names = "--entries", description = "Log entries of one small write each")
  private int entries;

  private Fill() {}

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Fill()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    long start = System.nanoTime();
    List<Connection> open = new ArrayList<>();
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      fillRows(connection, statement);
      if (locks > 0) {
        long lease = number(statement, "SELECT create_lease(INTERVAL '1' DAY, 'fill')");
        call(statement, locks, "try_acquire_lock('lock-' || X, " + lease + ")");
      }
      call(statement, leases, "create_lease(INTERVAL '1' DAY, 'fill')");
      fillEntries(connection, statement);
      for (int i = 0; i < sessions; i++) {
        open.add(DriverManager.getConnection(url));
      }
      System.out.printf(
          "filled in %d ms%n", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
      if (sessions > 0) {
        System.out.flush();
        System.in.read();
      }
    }
    for (Connection session : open) {
      session.close();
    }
    return 0;
  }

  private void fillRows(Connection connection, Statement statement) throws SQLException {
    if (rows == 0) {
      return;
    }
    statement.execute(
        "CREATE TABLE FILL_ROW(ID INT PRIMARY KEY, A INT, B VARCHAR(50), C TIMESTAMP, D DECIMAL(10,"
            + " 2))");
    statement.execute("CREATE INDEX FILL_A ON FILL_ROW(A)");
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO FILL_ROW VALUES(?, ?, ?, CURRENT_TIMESTAMP, 12.50)")) {
      for (int i = 0; i < rows; i++) {
        insert.setInt(1, i);
        insert.setInt(2, i / 10);
        insert.setString(3, "row number " + i);
        insert.addBatch();
        if (i % BATCH == BATCH - 1 || i == rows - 1) {
          insert.executeBatch();
        }
      }
    }
  }

  /** Calls a function a number of times, many times in one statement. */
  private static void call(Statement statement, int times, String call) throws SQLException {
    for (int i = 0; i < times; i += BATCH) {
      int last = Math.min(times, i + BATCH);
      long made =
          number(
              statement,
              "SELECT COUNT(" + call + ") FROM SYSTEM_RANGE(" + (i + 1) + ", " + last + ")");
      if (made != last - i) {
        throw new SQLException("made " + made + " of " + (last - i));
      }
    }
  }

  private void fillEntries(Connection connection, Statement statement) throws SQLException {
    if (entries == 0) {
      return;
    }
    statement.execute("CREATE TABLE FILL_ENTRY(ID INT PRIMARY KEY, V BIGINT)");
    statement.execute("INSERT INTO FILL_ENTRY VALUES(1, 0)");
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE FILL_ENTRY SET V = V + ? WHERE ID = 1")) {
      for (int i = 0; i < entries; i++) {
        update.setInt(1, i);
        update.executeUpdate();
      }
    }
  }

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }
}
