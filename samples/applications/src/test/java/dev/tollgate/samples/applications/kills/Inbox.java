package dev.tollgate.samples.applications.kills;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** A table of jobs, for frameworks that react to rows, and have no queue of their own. */
final class Inbox {
  static final String ROWS = "SELECT COUNT(*) FROM INBOX";

  private Inbox() {}

  static void create(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE INBOX(JOB INT PRIMARY KEY)");
      statement.execute("CREATE TABLE SUBMITTED(JOB INT PRIMARY KEY)");
    }
  }

  /** Enters a job once, however often this is repeated. */
  static void submit(DataSource database, int job) throws SQLException {
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      try {
        if (enter(connection, job)) {
          try (PreparedStatement insert =
              connection.prepareStatement("INSERT INTO INBOX VALUES (?)")) {
            insert.setInt(1, job);
            insert.executeUpdate();
          }
        }
        connection.commit();
      } finally {
        connection.rollback();
        connection.setAutoCommit(true);
      }
    }
  }

  /** Keeps a job single in the transaction that submits it, as the number of an order does. */
  static boolean enter(Connection transaction, int job) throws SQLException {
    try (PreparedStatement insert =
        transaction.prepareStatement(
            "INSERT INTO SUBMITTED SELECT ? WHERE NOT EXISTS(SELECT 1 FROM SUBMITTED WHERE JOB"
                + " = ?)")) {
      insert.setInt(1, job);
      insert.setInt(2, job);
      return insert.executeUpdate() == 1;
    }
  }
}
