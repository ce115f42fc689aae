package dev.tollgate.samples.applications.kills;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * What clients have done, in tables of the test. A job begins with a row of RUNS, which commits at
 * once. Its effect is a row of EFFECTS and one more in a counter that jobs share, in one
 * transaction. Thread-safe.
 */
final class Ledger {
  /** Jobs meet each other at these rows, so that a killed client leaves locks behind. */
  static final int COUNTERS = 2;

  /** How many queries a transaction makes while it holds its locks, so that a kill meets it. */
  private static final int QUERIES = 10;

  private static final String UNIQUE_KEY_VIOLATED = "23505";

  private final DataSource database;
  private final String client;

  /**
   * @param client who does the work, in the rows that it writes
   */
  Ledger(DataSource database, String client) {
    this.database = database;
    this.client = client;
  }

  /** Creates the tables. Without a promise of the framework's, a key keeps effects single. */
  static void create(Connection connection, Framework.Promise promise) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE RUNS(ID BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, JOB INT NOT NULL,"
              + " CLIENT VARCHAR(20) NOT NULL)");
      statement.execute(
          "CREATE TABLE EFFECTS(ID BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, JOB INT NOT"
              + " NULL, CLIENT VARCHAR(20) NOT NULL"
              + (promise == Framework.Promise.AT_LEAST_ONCE ? ", UNIQUE(JOB))" : ")"));
      statement.execute("CREATE INDEX EFFECTS_BY_JOB ON EFFECTS(JOB)");
      statement.execute("CREATE TABLE COUNTERS(ID INT PRIMARY KEY, EFFECTS INT NOT NULL)");
      for (int i = 0; i < COUNTERS; i++) {
        statement.execute("INSERT INTO COUNTERS VALUES (" + i + ", 0)");
      }
    }
  }

  /** The jobs of all effects. */
  static List<Integer> effects(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT JOB FROM EFFECTS ORDER BY ID")) {
      List<Integer> jobs = new ArrayList<>();
      while (rows.next()) {
        jobs.add(rows.getInt(1));
      }
      return jobs;
    }
  }

  /** A job begins, or begins again. */
  void begin(int job) throws SQLException {
    try (Connection connection = database.getConnection()) {
      insert(connection, "RUNS", job);
    }
  }

  /** Writes the effect of a job in the caller's transaction. */
  void write(Connection transaction, int job) throws SQLException {
    try (PreparedStatement count =
        transaction.prepareStatement("UPDATE COUNTERS SET EFFECTS = EFFECTS + 1 WHERE ID = ?")) {
      count.setInt(1, job % COUNTERS);
      if (count.executeUpdate() != 1) {
        throw new SQLException("counter " + job % COUNTERS + " is missing");
      }
    }
    insert(transaction, "EFFECTS", job);
    try (PreparedStatement query =
        transaction.prepareStatement("SELECT COUNT(*) FROM EFFECTS WHERE JOB = ?")) {
      query.setInt(1, job);
      for (int i = 0; i < QUERIES; i++) {
        query.executeQuery().close();
      }
    }
  }

  /** Writes the effect of a job in a transaction of its own, unless it has been written before. */
  void writeOnce(int job) throws SQLException {
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      try {
        write(connection, job);
        connection.commit();
      } catch (SQLException e) {
        connection.rollback();
        if (!UNIQUE_KEY_VIOLATED.equals(e.getSQLState())) {
          throw e;
        }
      } finally {
        connection.setAutoCommit(true);
      }
    }
  }

  private void insert(Connection connection, String table, int job) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO " + table + "(JOB, CLIENT) VALUES (?, ?)")) {
      insert.setInt(1, job);
      insert.setString(2, client);
      insert.executeUpdate();
    }
  }
}
