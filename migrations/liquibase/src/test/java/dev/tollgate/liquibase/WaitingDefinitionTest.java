package dev.tollgate.liquibase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A definition waits for the transaction of another session, and its run loses the lock. */
class WaitingDefinitionTest {
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  @RegisterExtension final TollgateNode node = new TollgateNode();
  @TempDir private Path folder;

  @Test
  void definitionThatNeverRanIsNotDone() throws Exception {
    node.execute("CREATE TABLE t(id INT)");
    ChangeLog changes =
        new ChangeLog(folder)
            .changeSet("1", "ALTER TABLE t ADD COLUMN x INT;", "CREATE TABLE t_b(id INT);");
    ExecutorService threads = Executors.newSingleThreadExecutor();
    try (Connection holder = node.connect()) {
      holder.setAutoCommit(false);
      holder.createStatement().executeUpdate("INSERT INTO t VALUES (1)");
      Callable<Boolean> update =
          () -> {
            changes.update(node.connect());
            return true;
          };
      Future<Boolean> run = threads.submit(update);
      awaitWaiter();
      node.ask("SELECT force_release_lock('liquibase:PUBLIC.DATABASECHANGELOG')");
      holder.commit();
      assertThrows(ExecutionException.class, run::get);
    } finally {
      threads.shutdownNow();
    }
    node.execute("CREATE TABLE of_another_client(id INT)");
    changes.update(node.connect());
    assertEquals(
        "2", node.ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'T'"));
    assertEquals("0", node.ask("SELECT COUNT(*) FROM t_b"));
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
