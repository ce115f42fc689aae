package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A definition waits for the queries that run, and queries that look at locks wait for the entry
 * that is being applied: the definition goes first.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class QueriesAndDefinitionsTest {
  private static final String URL = "jdbc:tollgate:mem:queries-and-definitions";
  private static final String ENDLESS =
      "SYSTEM_RANGE(1, 100000000) A, SYSTEM_RANGE(1, 100000000) B";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT COUNT(*) FROM " + ENDLESS + " WHERE holds_lock('job', A.X + B.X)",
        "SELECT COUNT(*) FROM " + ENDLESS + " WHERE lock_token('job') = A.X + B.X"
      })
  void definitionEndsAQueryThatLooksAtLocks(String sql) throws Exception {
    try (Connection reader = DriverManager.getConnection(URL);
        Connection writer = DriverManager.getConnection(URL);
        Statement definitions = writer.createStatement()) {
      CountDownLatch begins = new CountDownLatch(1);
      CompletableFuture<String> state = new CompletableFuture<>();
      Thread thread =
          new Thread(
              () -> {
                begins.countDown();
                state.complete(stateOf(reader, sql));
              });
      thread.start();
      assertTrue(begins.await(20, TimeUnit.SECONDS));
      // one of them finds the query at work
      while (!state.isDone()) {
        definitions.execute("CREATE TABLE IF NOT EXISTS T(ID INT)");
        definitions.execute("DROP TABLE T");
      }
      assertEquals("40001", state.get());
      thread.join();
    }
  }

  private static String stateOf(Connection connection, String sql) {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? "rows" : "no rows";
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }
}
