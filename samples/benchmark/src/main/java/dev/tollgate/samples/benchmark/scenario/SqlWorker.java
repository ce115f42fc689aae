package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Timings;
import dev.tollgate.samples.benchmark.measure.Worker;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A client that runs the same few statements again and again over a connection of its own. */
final class SqlWorker implements Worker {
  private final Connection connection;
  private final Operation operation;

  private SqlWorker(Connection connection, Operation operation) {
    this.connection = connection;
    this.operation = operation;
  }

  /** Work that is done once, and timed as a whole. */
  interface Operation {
    void run() throws Exception;
  }

  /** Prepares the statements. */
  interface Preparation {
    Operation prepare(Connection connection) throws SQLException;
  }

  static SqlWorker of(String url, Preparation preparation) throws SQLException {
    Connection connection = DriverManager.getConnection(url);
    try {
      return new SqlWorker(connection, preparation.prepare(connection));
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  /** Updates one row by its key with one UPDATE. */
  static Preparation updating(String sql, int id) {
    return connection -> {
      PreparedStatement update = connection.prepareStatement(sql);
      return () -> {
        update.setInt(1, id);
        one(update.executeUpdate());
      };
    };
  }

  /** Reads one row by its key. */
  static Preparation reading(String sql, int id) {
    return connection -> {
      PreparedStatement query = connection.prepareStatement(sql);
      return () -> {
        query.setInt(1, id);
        number(query);
      };
    };
  }

  static void one(int changed) throws SQLException {
    if (changed != 1) {
      throw new SQLException(changed + " rows instead of one");
    }
  }

  /** The number in the one row of a query. */
  static long number(PreparedStatement query) throws SQLException {
    try (ResultSet row = query.executeQuery()) {
      return number(row);
    }
  }

  static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      return number(row);
    }
  }

  private static long number(ResultSet row) throws SQLException {
    if (!row.next()) {
      throw new SQLException("no row");
    }
    long number = row.getLong(1);
    if (row.wasNull()) {
      throw new SQLException("no value");
    }
    return number;
  }

  /** Runs statements whose results do not matter. */
  static void execute(String url, String... statements) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  @Override
  public void operate(Timings timings) throws Exception {
    long begin = System.nanoTime();
    operation.run();
    timings.operation(System.nanoTime() - begin);
  }

  @Override
  public void dismiss() throws SQLException {
    connection.close();
  }
}
