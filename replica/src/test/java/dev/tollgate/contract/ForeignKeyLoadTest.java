package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Applications of one database that each replace rows of their own, as Hibernate does for lists
 * with orphanRemoval: rows that they refer to come and go in the same transaction.
 */
class ForeignKeyLoadTest {
  private static final String URL = "jdbc:tollgate:mem:foreign-key-load";
  private static final int CLIENTS = 6;
  private static final int TRANSACTIONS = 10;

  /** No transaction is rolled back, and no statement waits until the lock timeout. */
  @Test
  @Timeout(value = 120, unit = TimeUnit.SECONDS)
  void transactionsOnOtherKeysAreNotInTheWay() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    try (Connection connection = DriverManager.getConnection(URL);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE ord(id INT PRIMARY KEY)");
      statement.execute("CREATE TABLE line(id INT PRIMARY KEY)");
      statement.execute(
          "CREATE TABLE ord_line(o INT REFERENCES ord, l INT UNIQUE REFERENCES line)");
      List<Future<?>> clients = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        int first = client * TRANSACTIONS + 1;
        clients.add(
            threads.submit(
                () -> {
                  replaceLines(first);
                  return null;
                }));
      }
      for (Future<?> client : clients) {
        client.get();
      }
      assertEquals(CLIENTS * TRANSACTIONS, count(statement, "ord_line"));
      assertEquals(CLIENTS * TRANSACTIONS, count(statement, "line"));
      assertEquals(
          CLIENTS * TRANSACTIONS,
          count(statement, "ord_line JOIN line ON l = line.id JOIN ord ON ord.id = o"));
    } finally {
      threads.shutdownNow();
    }
  }

  private static void replaceLines(int first) throws SQLException {
    try (Connection connection = DriverManager.getConnection(URL);
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      for (int id = first; id < first + TRANSACTIONS; id++) {
        statement.execute("INSERT INTO ord VALUES(" + id + ")");
        statement.execute("INSERT INTO line VALUES(" + id + ")");
        statement.execute("INSERT INTO ord_line VALUES(" + id + ", " + id + ")");
        connection.commit();
        statement.execute("DELETE FROM ord_line WHERE o = " + id);
        statement.execute("INSERT INTO line VALUES(-" + id + ")");
        statement.execute("INSERT INTO ord_line VALUES(" + id + ", -" + id + ")");
        statement.execute("DELETE FROM line WHERE id = " + id);
        connection.commit();
      }
    }
  }

  private static int count(Statement statement, String table) throws SQLException {
    try (ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM " + table)) {
      rows.next();
      int count = rows.getInt(1);
      assertFalse(rows.next());
      return count;
    }
  }
}
