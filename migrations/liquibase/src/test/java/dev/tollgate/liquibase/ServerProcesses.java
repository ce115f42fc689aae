package dev.tollgate.liquibase;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.ClusterProcesses;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Runs against another database in processes that are killed, stopped, and many at once. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ServerProcesses {
  private ClusterProcesses node;

  @TempDir private Path directory;
  private RunnerProcesses runners;
  private Connection other;
  private ChangeLog changes;

  /** The database in which the runs work. */
  abstract String url();

  /** A connection to that database, which is empty. */
  abstract Connection connectToEmpty() throws SQLException;

  /** How the definition begins that a change set begins with. */
  abstract String createTable();

  /** Counts the statements that wait for a row. */
  abstract String countOfWaiting();

  @BeforeAll
  void startNode(@TempDir Path data) throws Exception {
    node = new ClusterProcesses(getClass().getSimpleName(), data, 1);
  }

  @AfterAll
  void stopNode() {
    if (node != null) {
      node.close();
    }
  }

  @BeforeEach
  void makeCounter() throws Exception {
    other = connectToEmpty();
    execute("CREATE TABLE counter(n INT)");
    execute("INSERT INTO counter VALUES (0)");
    runners =
        new RunnerProcesses(
            directory,
            url(),
            "-Dtollgate.lock.url=" + node.url(""),
            "-Dtollgate.lock.leaseSeconds=2");
    changes = new ChangeLog(directory);
  }

  @AfterEach
  void stopRunners() throws SQLException {
    runners.close();
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

  private void writeChanges(int count) throws Exception {
    for (int i = 1; i <= count; i++) {
      changes.changeSet(
          Integer.toString(i),
          createTable() + " t" + i + "(id INT);",
          "UPDATE counter SET n = n + 1;",
          "INSERT INTO t" + i + " VALUES (1);");
    }
  }

  private void assertUpdated(int count) throws SQLException {
    assertEquals(Integer.toString(count), ask("SELECT n FROM counter"));
    assertEquals(Integer.toString(count), ask("SELECT COUNT(*) FROM DATABASECHANGELOG"));
  }

  @Test
  void tenRunsAtOnceApplyEachChangeSetOnce() throws Exception {
    writeChanges(10);
    List<RunnerProcesses.Run> runs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      runs.add(runners.start());
    }
    for (RunnerProcesses.Run run : runs) {
      run.assertEnds(0);
    }
    assertUpdated(10);
  }

  /** Its UPDATE waits for a row, in the server. */
  private RunnerProcesses.Run startWithinAStatement() throws Exception {
    other.setAutoCommit(false);
    execute("UPDATE counter SET n = n + 100");
    RunnerProcesses.Run run = runners.start();
    // on a connection of its own: a transaction sees the activity of one moment alone
    try (Connection watcher = DriverManager.getConnection(url())) {
      await()
          .atMost(RunnerProcesses.DEADLINE)
          .until(() -> TollgateNode.ask(watcher, countOfWaiting()).equals("1"));
    }
    return run;
  }

  private void letItGoOn() throws SQLException {
    other.commit();
    other.setAutoCommit(true);
  }

  @Test
  void runKilledWithinAStatementIsFinishedByTheNext() throws Exception {
    writeChanges(2);
    RunnerProcesses.Run killed = startWithinAStatement();
    killed.kill();
    letItGoOn();
    runners.start().assertEnds(0);
    execute("UPDATE counter SET n = n - 100");
    assertUpdated(2);
  }

  /** The transaction of the stopped run is open, and the server ends it after four leases. */
  @Test
  void runStoppedBeyondItsLeaseIsRefusedWhenItGoesOn() throws Exception {
    writeChanges(2);
    RunnerProcesses.Run stopped = startWithinAStatement();
    stopped.signal("STOP");
    letItGoOn();
    runners.start().assertEnds(0);
    stopped.signal("CONT");
    stopped.assertEnds(1);
    assertTrue(stopped.printed().contains("is no longer held under token"), stopped.printed());
    execute("UPDATE counter SET n = n - 100");
    assertUpdated(2);
  }

  /** Each run dies once it has done one more change set, wherever it is by then. */
  @Test
  void runsThatAreKilledOneAfterTheOtherApplyEachChangeSetOnce() throws Exception {
    int count = 40;
    writeChanges(count);
    String counted = "SELECT n FROM counter";
    for (int kills = 0; kills < count / 2; kills++) {
      int before = Integer.parseInt(ask(counted));
      RunnerProcesses.Run run = runners.start();
      await()
          .atMost(RunnerProcesses.DEADLINE)
          .until(() -> Integer.parseInt(ask(counted)) > before || !run.process().isAlive());
      run.kill();
    }
    runners.start().assertEnds(0);
    assertUpdated(count);
  }
}
