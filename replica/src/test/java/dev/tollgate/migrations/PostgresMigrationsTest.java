package dev.tollgate.migrations;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scripts for PostgreSQL, under a lock of Tollgate. Skipped where PostgreSQL is not installed. */
class PostgresMigrationsTest {
  private static final String LOCK = "migrations:public.tollgate_schema_history";
  @RegisterExtension static final PostgresServer postgres = new PostgresServer();

  private final String tollgate = "jdbc:tollgate:mem:" + UUID.randomUUID();
  @TempDir private Path folder;
  private ScriptFiles files;
  private Connection keeper;
  private Connection other;
  private Queries queries;
  private ExecutorService runners;

  @BeforeEach
  void startNode() throws SQLException {
    keeper = DriverManager.getConnection(tollgate);
    other = DriverManager.getConnection(postgres.url());
    queries = new Queries(other);
    files = new ScriptFiles(folder);
    runners = Executors.newCachedThreadPool();
    empty();
  }

  @AfterEach
  void stopNode() throws SQLException {
    runners.shutdownNow();
    other.close();
    keeper.close();
  }

  private void empty() throws SQLException {
    queries.execute("DROP SCHEMA IF EXISTS public CASCADE");
    queries.execute("CREATE SCHEMA public");
    queries.execute("CREATE TABLE counter(n INT)");
    queries.execute("INSERT INTO counter VALUES (0)");
  }

  private Database database() {
    return Database.at(postgres.url(), Map.of(), getClass().getClassLoader());
  }

  private Migrations migrations(Database database, Progress progress) throws MigrationException {
    Database keepsTheLock = Database.at(tollgate, Map.of(), getClass().getClassLoader());
    return new Migrations(
        MigrationSettings.of(folder, database, keepsTheLock)
            .withLock(Duration.ofSeconds(15), Duration.ofSeconds(30)),
        progress);
  }

  private int migrate() throws MigrationException {
    return migrations(database(), Progress.NONE).migrate();
  }

  private void scripts() throws Exception {
    files
        .write(
            "V1__mixed.sql",
            "CREATE TABLE entry(id INT PRIMARY KEY, what TEXT);",
            "UPDATE counter SET n = n + 1;",
            "CREATE FUNCTION twice(i INT) RETURNS INT LANGUAGE plpgsql AS $f$",
            "BEGIN",
            "  RETURN 2 * i;",
            "END $f$;",
            "ALTER TABLE entry ADD CHECK (id > 0);")
        .write("V2__more.sql", "UPDATE counter SET n = n + 10;", "INSERT INTO entry VALUES (1);")
        .write("R__view.sql", "CREATE OR REPLACE VIEW twos AS SELECT twice(id) AS two FROM entry;");
  }

  @Test
  void scriptsRunOnceAndRaiseTheFence() throws Exception {
    scripts();
    List<Callable<Integer>> runs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      runs.add(this::migrate);
    }
    int ran = 0;
    for (Future<Integer> run : runners.invokeAll(runs)) {
      ran += run.get();
    }
    assertEquals(3, ran);
    assertEquals("11", queries.ask("SELECT n FROM counter"));
    assertEquals("2", queries.ask("SELECT two FROM twos"));
    assertEquals("3", queries.ask("SELECT COUNT(*) FROM tollgate_schema_history WHERE success"));
    assertEquals(LOCK, queries.ask("SELECT name FROM tollgate_fence"));
    assertEquals(
        "t",
        queries.ask(
            "SELECT token >= (SELECT MAX(token) FROM tollgate_schema_history) FROM tollgate_fence"));
    migrations(database(), Progress.NONE).validate();
  }

  @Test
  void failedScriptIsRolledBackAsAWhole() throws Exception {
    files.write(
        "V1__fails.sql",
        "CREATE TABLE entry(id INT);",
        "UPDATE counter SET n = 1;",
        "INSERT INTO nowhere VALUES (1);");
    MigrationException failed = assertThrows(MigrationException.class, this::migrate);
    assertTrue(
        failed.getMessage().startsWith("V1__fails.sql:3: statement 3 of 3 failed: SQLSTATE 42P01"),
        failed.getMessage());
    assertTrue(failed.getMessage().contains("Nothing of the script"), failed.getMessage());
    assertEquals("0", queries.ask("SELECT n FROM counter"));
    files.write("V1__fails.sql", "UPDATE counter SET n = 2;");
    assertEquals(1, migrate());
    assertEquals("2", queries.ask("SELECT n FROM counter"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void runAfterAKilledOneAppliesTheRestOnce(boolean lastIsSent) throws Exception {
    scripts();
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request++) {
      int last = request;
      empty();
      MortalDatabase mortal =
          new MortalDatabase(database(), "", (number, statement) -> number == last, lastIsSent);
      try {
        migrations(mortal, Progress.NONE).migrate();
        died = mortal.isDead();
      } catch (MigrationException e) {
        assertTrue(mortal.isDead(), () -> "died of " + e);
      }
      migrate();
      assertEquals("11", queries.ask("SELECT n FROM counter"), mortal.last());
      assertEquals(
          "3",
          queries.ask("SELECT COUNT(*) FROM tollgate_schema_history WHERE success"),
          mortal.last());
      deaths += died ? 1 : 0;
    }
    assertTrue(deaths > 30, "only " + deaths);
  }

  /** The first run is at work in the server when its lock goes to the second. */
  @Test
  void statementThatIsStillRunningIsWaitedForAndRolledBack() throws Exception {
    files.write(
        "V1__slow.sql", "UPDATE counter SET n = n + 1;", "SELECT pg_advisory_xact_lock(7);");
    queries.execute("SELECT pg_advisory_lock(7)");
    Future<Integer> first = runners.submit(this::migrate);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                queries
                    .ask(
                        "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
                    .equals("1"));
    new Queries(keeper).execute("SELECT force_release_lock('" + LOCK + "')");
    CountDownLatch secondHasTheLock = new CountDownLatch(1);
    Progress told =
        new Progress() {
          @Override
          public void lockTaken(String name, long token) {
            secondHasTheLock.countDown();
          }
        };
    Future<Integer> second = runners.submit(() -> migrations(database(), told).migrate());
    secondHasTheLock.await();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                queries
                    .ask("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
                    .equals("2"));
    queries.execute("SELECT pg_advisory_unlock(7)");
    ExecutionException refused = assertThrows(ExecutionException.class, first::get);
    MigrationException lost = (MigrationException) refused.getCause();
    assertEquals(MigrationException.Reason.LOCK_LOST, lost.reason(), lost.getMessage());
    assertEquals(1, second.get());
    assertEquals("1", queries.ask("SELECT n FROM counter"));
  }

  /** Even if the first run believed in its lock, the row of the fence would stop it. */
  @Test
  void staleTokenIsRefusedByTheRowOfTheFence() throws Exception {
    scripts();
    migrate();
    queries.execute("UPDATE tollgate_fence SET token = token + 1000000");
    files.write("V3__late.sql", "UPDATE counter SET n = n + 100;");
    MigrationException stale = assertThrows(MigrationException.class, this::migrate);
    assertEquals(MigrationException.Reason.LOCK_LOST, stale.reason());
    assertTrue(stale.getMessage().contains("a later holder of lock"), stale.getMessage());
    assertEquals("11", queries.ask("SELECT n FROM counter"));
  }

  @Test
  void scriptOutsideATransactionStopsWhereItsOutcomeIsUnknown() throws Exception {
    files
        .write("V1__t.sql", "CREATE TABLE entry(id INT);")
        .write(
            "V2__index.sql",
            "-- tollgate: transaction=off",
            "UPDATE counter SET n = n + 1;",
            "CREATE INDEX CONCURRENTLY entries ON entry(id);");
    MortalDatabase mortal =
        new MortalDatabase(
            database(), "", (number, statement) -> statement.startsWith("CREATE INDEX"), true);
    assertThrows(MigrationException.class, () -> migrations(mortal, Progress.NONE).migrate());
    MigrationException unknown = assertThrows(MigrationException.class, this::migrate);
    assertEquals(MigrationException.Reason.UNKNOWN_OUTCOME, unknown.reason());
    assertTrue(unknown.getMessage().contains("statement 2 of 2 in line 3"), unknown.getMessage());
    assertEquals(1, migrations(database(), Progress.NONE).repair(Optional.of(true)).size());
    assertEquals(1, migrate());
    assertEquals("1", queries.ask("SELECT n FROM counter"));
    assertEquals("1", queries.ask("SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'entries'"));
  }

  @Test
  void unknownUserIsNamed() throws Exception {
    scripts();
    Database wrong =
        Database.at(
            postgres.url().replace("user=tests", "user=nobody"),
            Map.of(),
            getClass().getClassLoader());
    MigrationException refused =
        assertThrows(MigrationException.class, () -> migrations(wrong, Progress.NONE).migrate());
    assertEquals(MigrationException.Reason.CREDENTIALS, refused.reason(), refused.getMessage());
  }
}
