package dev.tollgate.flyway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A definition waits for the transaction of another session, and its run loses the lock. */
class WaitingDefinitionTest {
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  @RegisterExtension private final TestNode node = new TestNode();

  @Test
  void definitionThatNeverRanIsNotDone() throws Exception {
    node.execute("CREATE TABLE t(id INT)");
    node.write("V1__two.sql", "ALTER TABLE t ADD COLUMN x INT;", "CREATE TABLE t_b(id INT);");
    try (Connection holder = DriverManager.getConnection(node.url())) {
      holder.setAutoCommit(false);
      holder.createStatement().executeUpdate("INSERT INTO t VALUES (1)");
      CompletableFuture<Integer> run =
          CompletableFuture.supplyAsync(
              () ->
                  node.configuration()
                      .baselineOnMigrate(true)
                      .baselineVersion("0")
                      .load()
                      .migrate()
                      .migrationsExecuted);
      awaitWaiter();
      node.ask("SELECT force_release_lock('flyway:PUBLIC.flyway_schema_history')");
      holder.commit();
      assertThrows(CompletionException.class, run::join);
    }
    node.execute("CREATE TABLE of_another_client(id INT)");
    node.flyway().repair();
    assertEquals(1, node.flyway().migrate().migrationsExecuted);
    assertEquals(
        "2", node.ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'T'"));
  }

  /** Returns once the ALTER waits; a definition ends queries that keep it waiting. */
  private void awaitWaiter() {
    long end = System.nanoTime() + DEADLINE.toNanos();
    String waiters = "";
    while (!waiters.equals("1")) {
      assertTrue(System.nanoTime() < end, "nothing waits");
      try {
        waiters = node.ask("SELECT SUM(STATEMENTS_WAITING) FROM TOLLGATE.TRANSACTIONS");
      } catch (SQLException e) {
        waiters = "";
      }
    }
  }
}
