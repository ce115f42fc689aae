package dev.tollgate.liquibase;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.ClusterProcesses;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import liquibase.Liquibase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs of Liquibase in processes that are killed, stopped, and many at once. */
@Tag("nightly")
class RunnerProcessesTest {
  private static ClusterProcesses node;

  @TempDir private Path directory;
  private RunnerProcesses runners;
  private Connection other;
  private ChangeLog changes;

  @BeforeAll
  static void startNode(@TempDir Path data) throws Exception {
    node = new ClusterProcesses("liquibase", data, 1);
  }

  @AfterAll
  static void stopNode() {
    node.close();
  }

  @BeforeEach
  void makeCounter() throws Exception {
    other = node.connect("");
    execute("CREATE TABLE counter(n INT)");
    execute("INSERT INTO counter VALUES (0)");
    runners =
        new RunnerProcesses(
            directory, node.url("sessionTimeout=2s"), "-Dtollgate.lock.leaseSeconds=2");
    changes = new ChangeLog(directory);
  }

  @AfterEach
  void dropAll() throws Exception {
    runners.close();
    other.setAutoCommit(true);
    changes.run(node.connect(""), Map.of(), Liquibase::dropAll);
    other.close();
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = other.createStatement()) {
      statement.execute(sql);
    }
  }

  private String ask(String sql) throws SQLException {
    return TollgateNode.ask(other, sql);
  }

  private void awaitWaitingStatement() {
    await()
        .atMost(RunnerProcesses.DEADLINE)
        // a definition ends a query that it waits for
        .ignoreExceptionsInstanceOf(SQLTransactionRollbackException.class)
        .until(() -> ask("SELECT SUM(STATEMENTS_WAITING) FROM TOLLGATE.TRANSACTIONS").equals("1"));
  }

  private void writeMixedChanges() throws Exception {
    changes.changeSet(
        "1",
        "CREATE TABLE entry(id INT PRIMARY KEY);",
        "UPDATE counter SET n = n + 1;",
        "ALTER TABLE entry ADD CHECK (id > 0);",
        "INSERT INTO entry VALUES (1);");
  }

  /** The statement under way waits for a row that this test has locked. */
  @Test
  void runKilledWithinAStatementIsFinishedByTheNext() throws Exception {
    writeMixedChanges();
    other.setAutoCommit(false);
    execute("UPDATE counter SET n = n + 100");
    RunnerProcesses.Run killed = runners.start();
    awaitWaitingStatement();
    killed.kill();
    other.commit();
    RunnerProcesses.Run next = runners.start();
    next.assertEnds(0);
    assertEquals("101", ask("SELECT n FROM counter"));
    assertEquals("1", ask("SELECT COUNT(*) FROM entry"));
    assertEquals("1", ask("SELECT COUNT(*) FROM databasechangelog"));
    assertTrue(next.printed().contains("goes on with"), next.printed());
  }

  @Test
  void runStoppedBeyondItsLeaseIsRefusedWhenItGoesOn() throws Exception {
    writeMixedChanges();
    other.setAutoCommit(false);
    execute("UPDATE counter SET n = n + 100");
    RunnerProcesses.Run stopped = runners.start();
    awaitWaitingStatement();
    stopped.signal("STOP");
    other.commit();
    runners.start().assertEnds(0);
    stopped.signal("CONT");
    stopped.assertEnds(1);
    assertTrue(
        stopped.printed().contains("refused: lock 'liquibase:PUBLIC.DATABASECHANGELOG'"),
        stopped.printed());
    assertEquals("101", ask("SELECT n FROM counter"));
    assertEquals("1", ask("SELECT COUNT(*) FROM entry"));
  }

  @Test
  void tenRunsAtOnceApplyEachChangeSetOnce() throws Exception {
    for (int i = 1; i <= 10; i++) {
      changes.changeSet(
          Integer.toString(i), "CREATE TABLE t" + i + "(id INT);", "UPDATE counter SET n = n + 1;");
    }
    List<RunnerProcesses.Run> runs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      runs.add(runners.start());
    }
    for (RunnerProcesses.Run run : runs) {
      run.assertEnds(0);
    }
    assertEquals("10", ask("SELECT n FROM counter"));
    assertEquals("10", ask("SELECT COUNT(*) FROM databasechangelog"));
  }

  /** Each run dies once it has done one more change set, wherever it is by then. */
  @Test
  void runsThatAreKilledOneAfterTheOtherApplyEachChangeSetOnce() throws Exception {
    int count = 40;
    for (int i = 1; i <= count; i++) {
      changes.changeSet(
          Integer.toString(i),
          "CREATE TABLE t" + i + "(id INT);",
          "UPDATE counter SET n = n + 1;",
          "CREATE INDEX ON t" + i + "(id);",
          "UPDATE counter SET n = n + 1;");
    }
    String counted = "SELECT n FROM counter";
    for (int kills = 0; kills < count / 2; kills++) {
      int before = Integer.parseInt(ask(counted));
      RunnerProcesses.Run run = runners.start();
      await()
          .atMost(RunnerProcesses.DEADLINE)
          .ignoreExceptionsInstanceOf(SQLTransactionRollbackException.class)
          .until(() -> Integer.parseInt(ask(counted)) > before || !run.process().isAlive());
      run.kill();
    }
    runners.start().assertEnds(0);
    assertEquals(Integer.toString(2 * count), ask(counted));
    assertEquals(Integer.toString(count), ask("SELECT COUNT(*) FROM databasechangelog"));
  }
}
