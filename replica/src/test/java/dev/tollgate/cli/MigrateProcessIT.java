package dev.tollgate.cli;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.migrations.Queries;
import dev.tollgate.migrations.ScriptFiles;
import dev.tollgate.node.LoopbackSettings;
import dev.tollgate.node.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs of tollgate migrate in processes that are killed, stopped, and many at once. */
class MigrateProcessIT {
  private static final Duration DEADLINE = Duration.ofMinutes(2);
  private static final int LOCK_LOST = 7;

  @TempDir private Path directory;
  private final List<Process> started = new ArrayList<>();
  private Node node;
  private String url;
  private Connection other;
  private Queries queries;
  private ScriptFiles files;

  /** A process and what it prints. */
  private record Run(Process process, Path out, Path err) {
    boolean hasPrinted(String text) throws IOException {
      return Files.readString(out).contains(text);
    }

    int awaitEnd() throws InterruptedException {
      assertTrue(process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS), "it does not end");
      return process.exitValue();
    }
  }

  @BeforeEach
  void startNode() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    url = "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
    other = DriverManager.getConnection(url);
    queries = new Queries(other);
    queries.execute("CREATE TABLE counter(n INT)");
    queries.execute("INSERT INTO counter VALUES (0)");
    files = new ScriptFiles(directory.resolve("scripts"));
  }

  @AfterEach
  void stopNode() throws Exception {
    started.forEach(Process::destroyForcibly);
    other.close();
    node.close();
  }

  private Run migrate() throws IOException {
    Path out = directory.resolve(started.size() + ".out");
    Path err = directory.resolve(started.size() + ".err");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dlogback.configurationFile=" + Path.of("conf", "logback.xml").toAbsolutePath(),
                "-cp",
                System.getProperty("java.class.path"),
                "dev.tollgate.cli.Main",
                "migrate",
                "-u",
                url,
                "--dir",
                directory.resolve("scripts").toString(),
                "--lease",
                "2s")
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    started.add(process);
    return new Run(process, out, err);
  }

  private void signal(Process process, String signal) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start();
    assertEquals(0, kill.waitFor());
  }

  /** The statement under way waits for a row that this test has locked. */
  @Test
  void runKilledWithinAStatementIsFinishedByTheNext() throws Exception {
    files.write(
        "V1__mixed.sql",
        "CREATE TABLE entry(id INT PRIMARY KEY);",
        "UPDATE counter SET n = n + 1;",
        "ALTER TABLE entry ADD CHECK (id > 0);",
        "INSERT INTO entry VALUES (1);");
    other.setAutoCommit(false);
    queries.execute("UPDATE counter SET n = n + 100");
    Run killed = migrate();
    await().atMost(DEADLINE).until(() -> killed.hasPrinted("V1__mixed.sql:1: statement 1 of 4"));
    await()
        .atMost(DEADLINE)
        // a definition ends a query that it waits for
        .ignoreExceptionsInstanceOf(SQLTransactionRollbackException.class)
        .until(this::statementWaits);
    killed.process().destroyForcibly().waitFor();
    other.commit();
    other.setAutoCommit(true);
    Run next = migrate();
    assertEquals(0, next.awaitEnd(), () -> read(next.err()));
    assertTrue(next.hasPrinted("goes on at statement 2 of 4"), read(next.out()));
    assertEquals("101", queries.ask("SELECT n FROM counter"));
    assertEquals("1", queries.ask("SELECT COUNT(*) FROM entry"));
  }

  private boolean statementWaits() throws SQLException {
    return !"0".equals(queries.ask("SELECT SUM(STATEMENTS_WAITING) FROM TOLLGATE.TRANSACTIONS"));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Test
  void runStoppedBeyondItsLeaseIsRefusedWhenItGoesOn() throws Exception {
    files.write("V1__slow.sql", "CREATE TABLE entry(id INT);", "UPDATE counter SET n = n + 1;");
    other.setAutoCommit(false);
    queries.execute("UPDATE counter SET n = n + 100");
    Run stopped = migrate();
    await().atMost(DEADLINE).until(() -> stopped.hasPrinted("V1__slow.sql:1: statement 1 of 2"));
    await()
        .atMost(DEADLINE)
        // a definition ends a query that it waits for
        .ignoreExceptionsInstanceOf(SQLTransactionRollbackException.class)
        .until(this::statementWaits);
    signal(stopped.process(), "STOP");
    other.commit();
    other.setAutoCommit(true);
    Run next = migrate();
    assertEquals(0, next.awaitEnd(), () -> read(next.err()));
    signal(stopped.process(), "CONT");
    assertEquals(LOCK_LOST, stopped.awaitEnd(), () -> read(stopped.err()));
    assertTrue(
        read(stopped.err()).matches("(?s)tollgate migrate: V1__slow.sql.* was refused: lock .*"),
        read(stopped.err()));
    assertEquals("101", queries.ask("SELECT n FROM counter"));
  }

  @Test
  @Tag("nightly")
  void tenRunsAtOnceApplyEachScriptOnce() throws Exception {
    for (int i = 1; i <= 10; i++) {
      files.write(
          "V" + i + "__step.sql",
          "CREATE TABLE t" + i + "(id INT);",
          "UPDATE counter SET n = n + 1;");
    }
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      runs.add(migrate());
    }
    for (Run run : runs) {
      assertEquals(0, run.awaitEnd(), () -> read(run.err()));
    }
    assertEquals("10", queries.ask("SELECT n FROM counter"));
    assertEquals("10", queries.ask("SELECT COUNT(*) FROM tollgate_schema_history WHERE success"));
  }
}
