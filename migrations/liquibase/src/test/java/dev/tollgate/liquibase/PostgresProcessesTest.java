package dev.tollgate.liquibase;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.ClusterProcesses;
import dev.tollgate.migrations.PostgresServer;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Runs against PostgreSQL in processes that are killed, stopped, and many at once. */
@Tag("nightly")
class PostgresProcessesTest {
  @RegisterExtension static final PostgresServer postgres = new PostgresServer();
  private static ClusterProcesses node;

  @TempDir private Path directory;
  private RunnerProcesses runners;
  private Connection other;
  private ChangeLog changes;

  @BeforeAll
  static void startNode(@TempDir Path data) throws Exception {
    node = new ClusterProcesses("liquibase-postgres", data, 1);
  }

  @AfterAll
  static void stopNode() {
    if (node != null) {
      node.close();
    }
  }

  @BeforeEach
  void makeCounter() throws Exception {
    other = DriverManager.getConnection(postgres.url());
    execute("DROP SCHEMA IF EXISTS public CASCADE");
    execute("CREATE SCHEMA public");
    execute("CREATE TABLE counter(n INT)");
    execute("INSERT INTO counter VALUES (0)");
    runners =
        new RunnerProcesses(
            directory,
            postgres.url(),
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

  /** A transaction sees the activity of one moment alone. */
  private static void awaitWaitingStatement() throws SQLException {
    try (Connection watcher = DriverManager.getConnection(postgres.url())) {
      String waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      await()
          .atMost(RunnerProcesses.DEADLINE)
          .until(() -> TollgateNode.ask(watcher, waiting).equals("1"));
    }
  }

  private void writeChanges(int count) throws Exception {
    for (int i = 1; i <= count; i++) {
      changes.changeSet(
          Integer.toString(i),
          "CREATE TABLE t" + i + "(id INT);",
          "UPDATE counter SET n = n + 1;",
          "INSERT INTO t" + i + " VALUES (1);");
    }
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
    assertEquals("10", ask("SELECT n FROM counter"));
    assertEquals("10", ask("SELECT COUNT(*) FROM databasechangelog"));
  }

  @Test
  void runKilledWithinAStatementIsFinishedByTheNext() throws Exception {
    writeChanges(2);
    other.setAutoCommit(false);
    execute("UPDATE counter SET n = n + 100");
    RunnerProcesses.Run killed = runners.start();
    awaitWaitingStatement();
    killed.kill();
    other.commit();
    other.setAutoCommit(true);
    runners.start().assertEnds(0);
    assertEquals("102", ask("SELECT n FROM counter"));
  }

  /** The transaction of the stopped run is open, and PostgreSQL ends it after four leases. */
  @Test
  void runStoppedBeyondItsLeaseIsRefusedWhenItGoesOn() throws Exception {
    writeChanges(2);
    other.setAutoCommit(false);
    execute("UPDATE counter SET n = n + 100");
    RunnerProcesses.Run stopped = runners.start();
    awaitWaitingStatement();
    stopped.signal("STOP");
    other.commit();
    other.setAutoCommit(true);
    runners.start().assertEnds(0);
    stopped.signal("CONT");
    stopped.assertEnds(1);
    assertTrue(stopped.printed().contains("is no longer held under token"), stopped.printed());
    assertEquals("102", ask("SELECT n FROM counter"));
    assertEquals("2", ask("SELECT COUNT(*) FROM databasechangelog"));
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
    assertEquals(Integer.toString(count), ask(counted));
    assertEquals(Integer.toString(count), ask("SELECT COUNT(*) FROM databasechangelog"));
  }
}
