package dev.tollgate.migrations;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scripts for Tollgate itself, on a node in memory. */
class MigrationsTest {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  @TempDir private Path folder;
  private ScriptFiles files;
  private Connection other;
  private Queries queries;

  @BeforeEach
  void startNode() throws SQLException {
    other = DriverManager.getConnection(url);
    queries = new Queries(other);
    files = new ScriptFiles(folder);
  }

  @AfterEach
  void stopNode() throws SQLException {
    other.close();
  }

  private MigrationSettings settings() throws MigrationException {
    return MigrationSettings.of(folder, Database.at(url, Map.of(), getClass().getClassLoader()))
        .withLock(Duration.ofSeconds(15), Duration.ofSeconds(20));
  }

  private Migrations migrations() throws MigrationException {
    return new Migrations(settings(), Progress.NONE);
  }

  private MigrationException failure(MigrationException.Reason reason) {
    MigrationException failure =
        assertThrows(MigrationException.class, () -> migrations().migrate());
    assertEquals(reason, failure.reason(), failure.getMessage());
    return failure;
  }

  private void cities() throws IOException {
    files
        .write(
            "V1__city.sql",
            "CREATE TABLE city(id INT PRIMARY KEY, name VARCHAR(50));",
            "INSERT INTO city VALUES (1, 'Oslo;'), (2, 'Lima');")
        .write("later/V1.10__people.sql", "ALTER TABLE city ADD COLUMN people INT DEFAULT 0;")
        .write(
            "V1.9__third.sql", "-- a comment; with a semicolon", "INSERT INTO city(id) VALUES (3);")
        .write("R__names.sql", "CREATE OR REPLACE VIEW names AS SELECT name FROM city;");
  }

  @Test
  void scriptsRunOnceAndInOrder() throws Exception {
    cities();
    assertEquals(
        List.of("V1__city.sql", "V1.9__third.sql", "later/V1.10__people.sql", "R__names.sql"),
        migrations().pending().stream().map(Script::path).toList());
    assertEquals(4, migrations().migrate());
    assertEquals("3", queries.ask("SELECT COUNT(*) FROM city WHERE people = 0"));
    assertEquals("3", queries.ask("SELECT COUNT(*) FROM names"));
    assertEquals(0, migrations().migrate());
    migrations().validate();
    assertEquals("4", queries.ask("SELECT COUNT(*) FROM tollgate_schema_history WHERE success"));
    assertEquals(
        "later/V1.10__people.sql",
        queries.ask("SELECT script FROM tollgate_schema_history WHERE version = '1.10'"));
    files.write("R__names.sql", "CREATE OR REPLACE VIEW names AS SELECT id, name FROM city;");
    assertEquals(1, migrations().migrate());
    assertEquals("5", queries.ask("SELECT COUNT(*) FROM tollgate_schema_history"));
  }

  /** The session that acquired the lock has ended with the run that failed. */
  @Test
  void resumedScriptHasTheLocksThatItsDoneStatementsAcquired() throws Exception {
    String[] lines = {
      "CREATE TABLE kept(id INT) FENCED BY LOCK 'app';",
      "SELECT acquire_lock('app');",
      "CREATE TABLE more(id INT);",
      "INSERT INTO nothing VALUES (1);"
    };
    files.write("V1__locked.sql", lines);
    failure(MigrationException.Reason.STATEMENT);
    lines[3] = "INSERT INTO kept VALUES (1);";
    files.write("V1__locked.sql", lines);
    assertEquals(1, migrations().migrate());
    assertEquals("1", queries.ask("SELECT COUNT(*) FROM kept"));
  }

  @Test
  void historyIsFencedByTheLock() throws Exception {
    cities();
    migrations().migrate();
    String lock = "migrations:PUBLIC.tollgate_schema_history";
    assertEquals(
        lock,
        queries.ask(
            "SELECT LOCK_NAME FROM TOLLGATE.FENCES WHERE TABLE_NAME = 'TOLLGATE_SCHEMA_HISTORY'"));
    SQLException refused =
        assertThrows(
            SQLException.class, () -> queries.execute("DELETE FROM tollgate_schema_history"));
    assertEquals("23T02", refused.getSQLState());
    assertEquals("0", queries.ask("SELECT COUNT(*) FROM TOLLGATE.LOCKS"), "the lock is released");
    assertTrue(
        Long.parseLong(queries.ask("SELECT MIN(token) FROM tollgate_schema_history")) > 0,
        "has tokens");
  }

  @Test
  void failedStatementIsNamedAndTheRestGoesOnBehindIt() throws Exception {
    files.write(
        "V1__city.sql",
        "CREATE TABLE city(id INT PRIMARY KEY);",
        "INSERT INTO city VALUES (1);",
        "",
        "INSERT INTO city",
        "  VALUES ('x');",
        "INSERT INTO city VALUES (2);");
    MigrationException failed = failure(MigrationException.Reason.STATEMENT);
    assertTrue(
        failed.getMessage().startsWith("V1__city.sql:4: statement 3 of 4 failed: SQLSTATE 22018"),
        failed.getMessage());
    assertTrue(failed.getMessage().contains("VALUES ('x')"), failed.getMessage());
    assertTrue(failed.getMessage().contains("The first statement has"), failed.getMessage());
    assertEquals("0", queries.ask("SELECT COUNT(*) FROM city"), "rolled back to the definition");
    ScriptState state = migrations().info().get(0);
    assertEquals(ScriptState.Kind.FAILED, state.kind());
    assertEquals(1, state.done());
    assertEquals(
        ScriptState.Kind.FAILED, migrations().info().get(0).kind(), "reading changes nothing");

    files.write(
        "V1__city.sql",
        "CREATE TABLE city(id INT PRIMARY KEY);",
        "INSERT INTO city VALUES (1);",
        "INSERT INTO city VALUES (3);",
        "INSERT INTO city VALUES (2);");
    assertEquals(1, migrations().migrate());
    assertEquals("3", queries.ask("SELECT COUNT(*) FROM city"));
    migrations().validate();
  }

  @Test
  void definitionThatFailsIsNotCountedAsDone() throws Exception {
    files.write(
        "V1__city.sql",
        "CREATE TABLE city(id INT PRIMARY KEY);",
        "INSERT INTO city VALUES (1);",
        "ALTER TABLE city DROP COLUMN nothing;");
    MigrationException failed = failure(MigrationException.Reason.STATEMENT);
    assertTrue(failed.getMessage().contains("statement 3 of 3"), failed.getMessage());
    assertTrue(failed.getMessage().contains("The first 2 statements"), failed.getMessage());
    assertEquals("1", queries.ask("SELECT COUNT(*) FROM city"), "a definition commits");
    files.write(
        "V1__city.sql",
        "CREATE TABLE city(id INT PRIMARY KEY);",
        "INSERT INTO city VALUES (1);",
        "ALTER TABLE city ADD COLUMN name VARCHAR(20);");
    assertEquals(1, migrations().migrate());
    assertEquals("1", queries.ask("SELECT COUNT(*) FROM city WHERE name IS NULL"));
  }

  @Test
  void statementThatIsDoneMayNotChange() throws Exception {
    files.write("V1__city.sql", "CREATE TABLE city(id INT);", "INSERT INTO nowhere VALUES (1);");
    failure(MigrationException.Reason.STATEMENT);
    files.write("V1__city.sql", "CREATE TABLE city(id BIGINT);", "INSERT INTO city VALUES (1);");
    MigrationException changed = failure(MigrationException.Reason.MISMATCH);
    assertTrue(changed.getMessage().contains("the first 1 of 2"), changed.getMessage());
    assertEquals("0", queries.ask("SELECT COUNT(*) FROM city"));
  }

  @Test
  void changedScriptIsRefusedUntilItIsAccepted() throws Exception {
    cities();
    migrations().migrate();
    files.write("V1.9__third.sql", "INSERT INTO city(id) VALUES (4);");
    files.write("V2__new.sql", "INSERT INTO city(id) VALUES (5);");
    MigrationException changed = failure(MigrationException.Reason.MISMATCH);
    assertTrue(changed.getMessage().contains("V1.9__third.sql has changed"), changed.getMessage());
    assertThrows(MigrationException.class, () -> migrations().validate());
    assertEquals("3", queries.ask("SELECT COUNT(*) FROM city"), "nothing has run");
    assertEquals(1, migrations().repair(Optional.empty()).size());
    assertEquals(1, migrations().migrate());
    assertEquals("4", queries.ask("SELECT COUNT(*) FROM city"));
  }

  @Test
  void missingScriptIsRefusedUntilThatIsAccepted() throws Exception {
    cities();
    migrations().migrate();
    Files.delete(folder.resolve("V1.9__third.sql"));
    MigrationException missing = failure(MigrationException.Reason.MISMATCH);
    assertTrue(missing.getMessage().contains("V1.9__third.sql was run"), missing.getMessage());
    assertEquals(1, migrations().repair(Optional.empty()).size());
    assertEquals(0, migrations().migrate());
  }

  @Test
  void lowerVersionIsRefusedUnlessItMayComeLate() throws Exception {
    cities();
    migrations().migrate();
    files.write("V1.5__late.sql", "INSERT INTO city(id) VALUES (9);");
    MigrationException late = failure(MigrationException.Reason.MISMATCH);
    assertTrue(late.getMessage().contains("V1.5__late.sql is new"), late.getMessage());
    assertEquals(1, new Migrations(settings().outOfOrder(), Progress.NONE).migrate());
  }

  @Test
  void nothingBeyondTheTargetIsRun() throws Exception {
    cities();
    MigrationSettings upTo = settings().upTo(Version.parse("1.9"));
    assertEquals(2, new Migrations(upTo, Progress.NONE).migrate());
    List<ScriptState.Kind> kinds =
        new Migrations(upTo, Progress.NONE).info().stream().map(ScriptState::kind).toList();
    assertEquals(
        List.of(
            ScriptState.Kind.APPLIED,
            ScriptState.Kind.APPLIED,
            ScriptState.Kind.BEYOND_TARGET,
            ScriptState.Kind.BEYOND_TARGET),
        kinds);
    assertEquals(2, migrations().migrate());
  }

  @Test
  void readingChangesNothing() throws Exception {
    cities();
    assertEquals(4, migrations().pending().size());
    assertEquals(4, migrations().info().size());
    migrations().validate();
    assertEquals(
        "0",
        queries.ask(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'"));
  }

  @Test
  void runWaitsForAnotherOnlySoLong() throws Exception {
    cities();
    queries.execute("SELECT acquire_lock('migrations:PUBLIC.tollgate_schema_history')");
    MigrationSettings impatient =
        settings().withLock(Duration.ofSeconds(15), Duration.ofMillis(200));
    MigrationException busy =
        assertThrows(
            MigrationException.class, () -> new Migrations(impatient, Progress.NONE).migrate());
    assertEquals(MigrationException.Reason.LOCK_BUSY, busy.reason());
    assertTrue(busy.getMessage().contains("holds it under token"), busy.getMessage());
    assertEquals(
        "0",
        queries.ask(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'"));
  }

  @Test
  void tenRunsAtOnceRunEachScriptOnce() throws Exception {
    cities();
    ExecutorService runners = Executors.newFixedThreadPool(10);
    try {
      List<Callable<Integer>> runs = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        runs.add(() -> migrations().migrate());
      }
      int ran = 0;
      for (Future<Integer> run : runners.invokeAll(runs)) {
        ran += run.get();
      }
      assertEquals(4, ran);
      assertEquals("3", queries.ask("SELECT COUNT(*) FROM city"));
      assertEquals("4", queries.ask("SELECT COUNT(*) FROM tollgate_schema_history"));
    } finally {
      runners.shutdownNow();
    }
  }

  /** Takes the lock away before a statement, as when the runner was paused beyond its lease. */
  @Test
  void runThatLostItsLockWritesNothingMore() throws Exception {
    cities();
    Progress thief =
        new Progress() {
          @Override
          public void statementBegins(Script script, int number) {
            if (script.path().startsWith("V1.9") || script.path().startsWith("later")) {
              try {
                queries.execute(
                    "SELECT force_release_lock('migrations:PUBLIC.tollgate_schema_history')");
                queries.execute("SELECT acquire_lock('migrations:PUBLIC.tollgate_schema_history')");
              } catch (SQLException e) {
                throw new IllegalStateException(e);
              }
            }
          }
        };
    for (String state : List.of("1", "2")) {
      MigrationException lost =
          assertThrows(MigrationException.class, () -> new Migrations(settings(), thief).migrate());
      assertEquals(MigrationException.Reason.LOCK_LOST, lost.reason(), lost.getMessage());
      assertEquals(
          state, queries.ask("SELECT COUNT(*) FROM tollgate_schema_history WHERE done > 0"));
      queries.execute("SELECT release_lock('migrations:PUBLIC.tollgate_schema_history')");
      if (state.equals("1")) {
        assertEquals("2", queries.ask("SELECT COUNT(*) FROM city"), "the insert was refused");
        new Migrations(settings().upTo(Version.parse("1.9")), Progress.NONE).migrate();
      }
    }
    assertEquals(
        "0",
        queries.ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE COLUMN_NAME = 'PEOPLE'"),
        "the definition was refused");
    assertEquals(2, migrations().migrate());
    assertEquals("3", queries.ask("SELECT COUNT(*) FROM city WHERE people = 0"));
  }

  /** The history has committed, and only the fence of the session is left to refuse it. */
  @Test
  void definitionThatWaitedUntilTheLockWasLostIsRefused() throws Exception {
    cities();
    migrations().migrate();
    files.write("V2__late.sql", "ALTER TABLE city ADD COLUMN late INT;");
    ExecutorService runner = Executors.newSingleThreadExecutor();
    try (Connection writer = DriverManager.getConnection(url);
        Statement write = writer.createStatement()) {
      writer.setAutoCommit(false);
      write.execute("UPDATE city SET people = 1");
      Future<Integer> run = runner.submit(() -> migrations().migrate());
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  queries
                      .ask("SELECT SUM(STATEMENTS_WAITING) FROM TOLLGATE.TRANSACTIONS")
                      .equals("1"));
      queries.execute("SELECT force_release_lock('migrations:PUBLIC.tollgate_schema_history')");
      writer.commit();
      ExecutionException ended = assertThrows(ExecutionException.class, run::get);
      MigrationException lost = (MigrationException) ended.getCause();
      assertEquals(MigrationException.Reason.LOCK_LOST, lost.reason(), lost.getMessage());
    } finally {
      runner.shutdownNow();
    }
    String columns = "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE COLUMN_NAME = 'LATE'";
    assertEquals("0", queries.ask(columns));
    assertEquals(1, migrations().migrate());
    assertEquals("1", queries.ask(columns));
  }

  @Test
  void settingsOfTheSessionLastForTheirScriptAlsoInTheNextRun() throws Exception {
    String[] lines = {
      "CREATE SCHEMA sub;",
      "SET SCHEMA sub;",
      "CREATE TABLE a(id INT);",
      "SAVEPOINT s;",
      "INSERT INTO a VALUES (1);",
      "ROLLBACK TO SAVEPOINT s;",
      "INSERT INTO nowhere VALUES (2);"
    };
    files.write("V1__sub.sql", lines).write("V2__b.sql", "CREATE TABLE b(id INT);");
    failure(MigrationException.Reason.STATEMENT);
    lines[6] = "INSERT INTO a VALUES (2);";
    files.write("V1__sub.sql", lines);
    assertEquals(2, migrations().migrate());
    assertEquals("2", queries.ask("SELECT id FROM sub.a"));
    assertEquals("0", queries.ask("SELECT COUNT(*) FROM public.b"));
  }
}
