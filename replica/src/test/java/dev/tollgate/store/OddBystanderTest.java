package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.store.OddStatements.Odd;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.h2.value.Value;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client that only takes and releases a lock hardly notices the odd statements of another client.
 * Prints the longest that it has waited, and beside which statements.
 */
@Tag("nightly")
class OddBystanderTest {
  private static final int SECONDS = Integer.getInteger("tollgate.odd.seconds", 600);
  private static final int STATEMENTS_PER_NODE = 300;
  private static final int LONGEST = 5;

  /** Far more than any statement may hold the log up, also on a busy machine. */
  private static final Duration TOO_LONG = Duration.ofSeconds(10);

  private record Wait(long nanos, String beside) {}

  private final List<Wait> waits = new ArrayList<>();
  private volatile String running = "";
  private int nodes;
  @TempDir private Path directory;

  @Test
  void bystanderHardlyWaits() throws Exception {
    long seed = Long.getLong("tollgate.odd.seed", System.nanoTime());
    System.out.println("OddBystanderTest: -Dtollgate.odd.seed=" + seed);
    OddStatements statements = new OddStatements(new Random(seed));
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    while (System.nanoTime() < end) {
      runOnce(statements);
    }
    waits.sort((one, other) -> Long.compare(other.nanos(), one.nanos()));
    waits.stream()
        .limit(LONGEST)
        .forEach(
            wait ->
                System.out.println(
                    "OddBystanderTest: " + wait.nanos() / 1_000_000 + " ms: " + wait.beside()));
    assertTrue(waits.size() > SECONDS, waits.size() + " locks");
    assertTrue(waits.get(0).nanos() < TOO_LONG.toNanos(), waits.get(0).toString());
  }

  /** Some statements on a new node. */
  private void runOnce(OddStatements statements) throws Exception {
    // unlike a named node in memory, this one ends with its last connection
    String url = "jdbc:tollgate:embedded:" + directory.resolve("node-" + nodes++);
    AtomicBoolean done = new AtomicBoolean();
    try (Connection odd = DriverManager.getConnection(url);
        Connection bystander = DriverManager.getConnection(url)) {
      CompletableFuture<Void> locking =
          CompletableFuture.runAsync(() -> lockUntil(bystander, done));
      try {
        for (String sql : OddStatements.TABLES) {
          run(odd, Odd.of(sql));
        }
        for (int i = 0; i < STATEMENTS_PER_NODE; i++) {
          Odd next = statements.next();
          // the first user ends the sessions that nobody has logged in to
          if (!next.sql().startsWith("CREATE USER")) {
            run(odd, next);
          }
        }
      } finally {
        done.set(true);
      }
      locking.get(1, TimeUnit.MINUTES);
    }
  }

  private void lockUntil(Connection connection, AtomicBoolean done) {
    try (Statement statement = connection.createStatement()) {
      while (!done.get()) {
        String before = running;
        long start = System.nanoTime();
        statement.execute("SELECT acquire_lock('bystander')");
        waits.add(new Wait(System.nanoTime() - start, before + " ... " + running));
        statement.execute("SELECT release_lock('bystander')");
      }
    } catch (SQLException e) {
      throw new IllegalStateException("beside " + running, e);
    }
  }

  private void run(Connection connection, Odd odd) throws SQLException {
    running = odd.toString();
    try (PreparedStatement statement = connection.prepareStatement(odd.sql())) {
      int i = 1;
      for (Value value : odd.parameters()) {
        statement.setObject(i++, value.getString());
      }
      statement.execute();
    } catch (SQLException e) {
      if (!connection.isValid(60)) {
        throw new AssertionError("the node is gone after " + odd, e);
      }
    }
  }
}
