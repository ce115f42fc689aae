package dev.tollgate.flyway;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.ClusterProcesses;
import dev.tollgate.cluster.NodeProcess;
import dev.tollgate.migrations.DatabaseProcess;
import dev.tollgate.migrations.PostgresProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Flyway in processes that are killed, stopped, and many at once; nodes in processes too. */
class FlywayProcessTest {
  private static final Duration DEADLINE = Duration.ofMinutes(2);
  private static final String LEASE = "2s";
  private static final int SCRIPTS = 25;

  @TempDir private Path directory;
  private final List<Process> started = new ArrayList<>();
  private ClusterProcesses cluster;
  private DatabaseProcess postgres;
  private Connection other;

  /** A process and what it prints. */
  private record Run(Process process, Path out) {
    String awaitEnd() throws Exception {
      assertTrue(
          process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS),
          () -> "it does not end: " + printed());
      return printed();
    }

    String printed() {
      try {
        return Files.readString(out);
      } catch (IOException e) {
        return e.toString();
      }
    }
  }

  private void startNodes(int nodes) throws Exception {
    Files.createDirectories(directory.resolve("scripts"));
    cluster =
        new ClusterProcesses("flyway", Files.createDirectory(directory.resolve("nodes")), nodes);
  }

  private void connect(String url) throws SQLException {
    other = DriverManager.getConnection(url);
    execute("CREATE SCHEMA count");
    execute("CREATE TABLE count.counter(n INT)");
    execute("INSERT INTO count.counter VALUES (0)");
  }

  private void startPostgres() throws Exception {
    postgres = PostgresProcess.start();
    startNodes(1);
    connect(postgres.url());
  }

  @AfterEach
  void stopAll() throws Exception {
    started.forEach(Process::destroyForcibly);
    if (other != null) {
      other.close();
    }
    if (postgres != null) {
      postgres.close();
    }
    if (cluster != null) {
      cluster.close();
    }
  }

  private void write(String name, String... lines) throws IOException {
    Files.writeString(directory.resolve("scripts").resolve(name), String.join("\n", lines));
  }

  private Run migrate() throws IOException {
    return postgres == null ? run(cluster.url("")) : run(postgres.url(), cluster.url(""));
  }

  private Run run(String url, String... lock) throws IOException {
    Path out = directory.resolve(started.size() + ".out");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                FlywayRunner.class.getName(),
                url,
                directory.resolve("scripts").toString(),
                LEASE));
    command.addAll(List.of(lock));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    started.add(process);
    return new Run(process, out);
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = other.createStatement()) {
      statement.execute(sql);
    }
  }

  private String ask(String sql) throws SQLException {
    return TestNode.ask(other, sql);
  }

  private static void signal(Process process, String signal) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start();
    assertEquals(0, kill.waitFor());
  }

  /** A transaction of this test has the row, so that a run waits in the middle of a statement. */
  private void lockCounter() throws SQLException {
    other.setAutoCommit(false);
    execute("UPDATE count.counter SET n = n + 100");
  }

  private void unlockCounter() throws SQLException {
    other.commit();
    other.setAutoCommit(true);
  }

  private void awaitRunThatWaits() {
    String question =
        postgres == null
            ? "SELECT SUM(STATEMENTS_WAITING) FROM TOLLGATE.TRANSACTIONS"
            : "SELECT COUNT(*) FROM pg_locks WHERE NOT granted";
    await()
        .atMost(DEADLINE)
        // a definition ends a query that it waits for
        .ignoreExceptionsInstanceOf(SQLTransactionRollbackException.class)
        .until(() -> !"0".equals(ask(question)));
  }

  private void mixedScript() throws IOException {
    write(
        "V1__mixed.sql",
        "CREATE TABLE entry(id INT PRIMARY KEY);",
        "UPDATE count.counter SET n = n + 1;",
        "ALTER TABLE entry ADD CHECK (id > 0);",
        "INSERT INTO entry VALUES (1);");
  }

  private void assertAppliedOnce() throws SQLException {
    assertEquals("101", ask("SELECT n FROM count.counter"));
    assertEquals("1", ask("SELECT COUNT(*) FROM entry"));
    assertEquals("1", ask("SELECT COUNT(*) FROM \"flyway_schema_history\" WHERE \"success\""));
  }

  @Test
  @Tag("nightly")
  void runKilledWithinAStatementIsFinishedByTheNext() throws Exception {
    startNodes(1);
    connect(cluster.url(""));
    mixedScript();
    lockCounter();
    Run killed = migrate();
    awaitRunThatWaits();
    killed.process().destroyForcibly().waitFor();
    unlockCounter();
    assertTrue(migrate().awaitEnd().contains("applied 1"), started::toString);
    assertAppliedOnce();
  }

  @Test
  void runStoppedBeyondItsLeaseIsRefusedWhenItGoesOn() throws Exception {
    startNodes(1);
    connect(cluster.url(""));
    stoppedRunIsRefused();
  }

  @Test
  @Tag("nightly")
  void runOnPostgresStoppedBeyondItsLeaseIsRefusedWhenItGoesOn() throws Exception {
    startPostgres();
    stoppedRunIsRefused();
  }

  private void stoppedRunIsRefused() throws Exception {
    mixedScript();
    lockCounter();
    Run stopped = migrate();
    awaitRunThatWaits();
    signal(stopped.process(), "STOP");
    unlockCounter();
    Run next = migrate();
    String nextPrinted = next.awaitEnd();
    assertTrue(nextPrinted.contains("applied 1"), nextPrinted);
    assertAppliedOnce();
    signal(stopped.process(), "CONT");
    String printed = stopped.awaitEnd();
    assertTrue(printed.contains("ended: The run was refused: lock 'flyway:"), printed);
    assertAppliedOnce();
  }

  @Test
  @Tag("nightly")
  void runOnPostgresKilledWithinAStatementIsFinishedByTheNext() throws Exception {
    startPostgres();
    mixedScript();
    lockCounter();
    Run killed = migrate();
    awaitRunThatWaits();
    killed.process().destroyForcibly().waitFor();
    unlockCounter();
    String printed = migrate().awaitEnd();
    assertTrue(printed.contains("applied 1"), printed);
    assertAppliedOnce();
  }

  @Test
  @Tag("nightly")
  void tenRunsAtOnceApplyEachScriptOnce() throws Exception {
    startNodes(3);
    connect(cluster.url(""));
    tenRunsAtOnce();
  }

  @Test
  @Tag("nightly")
  void tenRunsAtOnceOnPostgresApplyEachScriptOnce() throws Exception {
    startPostgres();
    tenRunsAtOnce();
  }

  private void tenRunsAtOnce() throws Exception {
    steps();
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      runs.add(migrate());
    }
    for (Run run : runs) {
      String printed = run.awaitEnd();
      assertTrue(printed.contains("applied "), printed);
    }
    assertEquals("10", ask("SELECT n FROM count.counter"));
    assertEquals(
        "10/10",
        ask(
            "SELECT COUNT(*) || '/' || COUNT(DISTINCT \"script\") FROM \"flyway_schema_history\""
                + " WHERE \"success\" AND \"type\" = 'SQL'"));
  }

  private void steps() throws IOException {
    for (int i = 1; i <= 10; i++) {
      write(
          "V" + i + "__step.sql",
          "CREATE TABLE t" + i + "(id INT);",
          "UPDATE count.counter SET n = n + 1;");
    }
  }

  @Test
  @Tag("nightly")
  void runGoesOnWhenTheLeaderDies() throws Exception {
    startNodes(3);
    connect(cluster.url(""));
    mixedScript();
    lockCounter();
    Run run = migrate();
    awaitRunThatWaits();
    NodeProcess leader = cluster.leader();
    leader.kill();
    cluster.leader();
    unlockCounter();
    String printed = run.awaitEnd();
    assertTrue(printed.contains("applied 1"), printed);
    assertAppliedOnce();
  }

  /** Kills a run after each of many delays; the last run applies what is left. */
  @Test
  @Tag("nightly")
  void runsKilledAtAnyMomentApplyEachScriptOnce() throws Exception {
    startNodes(1);
    connect(cluster.url(""));
    killedSeries();
  }

  @Test
  @Tag("nightly")
  void runsOnPostgresKilledAtAnyMomentApplyEachScriptOnce() throws Exception {
    startPostgres();
    killedSeries();
  }

  private void killedSeries() throws Exception {
    for (int i = 1; i <= SCRIPTS; i++) {
      write(
          "V" + i + "__step.sql",
          "CREATE TABLE t" + i + "(id INT);",
          "UPDATE count.counter SET n = n + 1;",
          "ALTER TABLE t" + i + " ADD COLUMN more INT;");
    }
    int killed = 0;
    for (int delayMillis = 600; ; delayMillis += 100) {
      Run run = migrate();
      if (run.process().waitFor(delayMillis, TimeUnit.MILLISECONDS)) {
        String printed = run.awaitEnd();
        assertTrue(printed.contains("applied "), printed);
        break;
      }
      run.process().destroyForcibly().waitFor();
      killed++;
    }
    assertTrue(killed > 3, "only " + killed);
    assertEquals("" + SCRIPTS, ask("SELECT n FROM count.counter"));
    assertEquals(
        SCRIPTS + "/" + SCRIPTS,
        ask(
            "SELECT COUNT(*) || '/' || COUNT(DISTINCT \"script\") FROM \"flyway_schema_history\""
                + " WHERE \"success\" AND \"type\" = 'SQL'"));
  }
}
