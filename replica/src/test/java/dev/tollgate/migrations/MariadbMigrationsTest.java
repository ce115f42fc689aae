package dev.tollgate.migrations;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Scripts for MariaDB, which commits at each definition, under a lock of Tollgate. Skipped where
 * MariaDB is not installed.
 */
class MariadbMigrationsTest {
  private static final String LOCK = "migrations:shop.tollgate_schema_history";
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  @RegisterExtension static final MariadbServer mariadb = new MariadbServer();

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
    other = DriverManager.getConnection(mariadb.url());
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
    for (String database : List.of("shop", "elsewhere")) {
      queries.execute("DROP DATABASE IF EXISTS " + database);
      queries.execute("CREATE DATABASE " + database);
    }
    queries.execute("USE shop");
    queries.execute("CREATE TABLE counter(n INT)");
    queries.execute("INSERT INTO counter VALUES (0)");
  }

  private Database database() {
    return Database.at(
        mariadb.url().replace("/tests", "/shop"), Map.of(), getClass().getClassLoader());
  }

  private Migrations migrations(Database database) throws MigrationException {
    Database keepsTheLock = Database.at(tollgate, Map.of(), getClass().getClassLoader());
    return new Migrations(
        MigrationSettings.of(folder, database, keepsTheLock)
            .withLock(Duration.ofSeconds(15), Duration.ofSeconds(30)),
        Progress.NONE);
  }

  private int migrate() throws MigrationException {
    return migrations(database()).migrate();
  }

  private void scripts() throws Exception {
    files
        .write(
            "V1__mixed.sql",
            "UPDATE counter SET n = n + 1;",
            "CREATE TABLE entry(id INT PRIMARY KEY, what TEXT);",
            "UPDATE counter SET n = n + 10;",
            "ALTER TABLE entry ADD COLUMN more INT;",
            "UPDATE counter SET n = n + 100;")
        .write(
            "V2__rows.sql", "UPDATE counter SET n = n + 1000;", "INSERT INTO entry(id) VALUES (1);")
        .write("R__view.sql", "CREATE OR REPLACE VIEW twos AS SELECT 2 * id AS two FROM entry;");
  }

  private void assertDone(String after) throws SQLException {
    assertEquals("1111", queries.ask("SELECT n FROM counter"), after);
    assertEquals("2", queries.ask("SELECT two FROM twos"), after);
    assertEquals(
        "3", queries.ask("SELECT COUNT(*) FROM tollgate_schema_history WHERE success"), after);
  }

  @Test
  void tenRunsAtOnceRunEachScriptOnce() throws Exception {
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
    assertDone("");
    assertEquals(LOCK, queries.ask("SELECT name FROM tollgate_fence"));
    migrations(database()).validate();
  }

  /** The history stays in the database that the connection had when the run began. */
  @Test
  void scriptMayUseAnotherDatabase() throws Exception {
    files
        .write(
            "V1__there.sql",
            "USE elsewhere;",
            "CREATE TABLE t(id INT);",
            "INSERT INTO t VALUES (1);")
        .write("V2__here.sql", "UPDATE counter SET n = n + 1;");
    assertEquals(2, migrate());
    assertEquals("1", queries.ask("SELECT n FROM counter"));
    assertEquals("1", queries.ask("SELECT id FROM elsewhere.t"));
    assertEquals("2", queries.ask("SELECT COUNT(*) FROM tollgate_schema_history WHERE success"));
  }

  @Test
  void statementsBeforeADefinitionStayWhenTheScriptFails() throws Exception {
    files.write(
        "V1__fails.sql",
        "UPDATE counter SET n = n + 1;",
        "CREATE TABLE entry(id INT);",
        "UPDATE counter SET n = n + 10;",
        "INSERT INTO nowhere VALUES (1);");
    MigrationException failed = assertThrows(MigrationException.class, this::migrate);
    assertTrue(failed.getMessage().contains("statement 4 of 4 failed"), failed.getMessage());
    assertTrue(failed.getMessage().contains("The first 2 statements"), failed.getMessage());
    assertEquals("1", queries.ask("SELECT n FROM counter"));
    files.write(
        "V1__fails.sql",
        "UPDATE counter SET n = n + 1;",
        "CREATE TABLE entry(id INT);",
        "UPDATE counter SET n = n + 100;");
    assertEquals(1, migrate());
    assertEquals("101", queries.ask("SELECT n FROM counter"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("nightly")
  void runAfterOneKilledAtEachRequestFinishesOrAsks(boolean lastIsSent) throws Exception {
    scripts();
    int deaths = 0;
    int asked = 0;
    boolean died = true;
    for (int request = 1; died; request++) {
      int last = request;
      empty();
      MortalDatabase mortal =
          new MortalDatabase(database(), "", (number, statement) -> number == last, lastIsSent);
      try {
        migrations(mortal).migrate();
        died = mortal.isDead();
      } catch (MigrationException e) {
        assertTrue(mortal.isDead(), () -> "died of " + e);
      }
      asked += finish();
      assertDone(mortal.last());
      deaths += died ? 1 : 0;
    }
    assertTrue(deaths > 60 && asked > 3 && asked < 20, deaths + " dead, " + asked + " asked");
  }

  /** Runs what is left; returns how often an operator had to look at the database. */
  private int finish() throws Exception {
    try {
      migrate();
      return 0;
    } catch (MigrationException e) {
      assertEquals(MigrationException.Reason.UNKNOWN_OUTCOME, e.reason(), e.getMessage());
      String table = e.getMessage().contains("statement 2 of 5") ? "entry" : "twos";
      String effect =
          e.getMessage().contains("statement 4 of 5")
              ? "COLUMNS WHERE COLUMN_NAME = 'more' AND TABLE_NAME = 'entry'"
              : "TABLES WHERE TABLE_NAME = '" + table + "'";
      boolean done =
          queries
              .ask(
                  "SELECT COUNT(*) FROM INFORMATION_SCHEMA."
                      + effect
                      + " AND TABLE_SCHEMA = 'shop'")
              .equals("1");
      migrations(database()).repair(Optional.of(done));
      migrate();
      return 1;
    }
  }

  /** A run that dies at a statement; returns the failure of the next one, or null. */
  private @Nullable MigrationException dieAt(String begin, boolean lastIsSent) {
    MortalDatabase mortal =
        new MortalDatabase(
            database(), "", (number, statement) -> statement.startsWith(begin), lastIsSent);
    assertThrows(MigrationException.class, () -> migrations(mortal).migrate());
    assertTrue(mortal.isDead());
    try {
      migrate();
      return null;
    } catch (MigrationException e) {
      return e;
    }
  }

  /** What an expression of SQL has, or that the run said that it does not know. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "CALL committing()                                             | true",
        "SET STATEMENT max_statement_time=60 FOR UPDATE counter SET n = n + 10 | true",
        "SET STATEMENT max_statement_time=60 FOR ALTER TABLE a ADD COLUMN m INT | true",
        "/*!50001 CREATE TABLE made(id INT) */                         | true",
        "EXECUTE IMMEDIATE 'CREATE TABLE made(id INT)'                 | true",
        "REPLACE INTO a VALUES (1)                                     | false",
        "DO 1 + 1                                                      | false",
      })
  void statementThatMayCommitIsNeverTakenForDoneOrUndone(String statement, boolean unknown)
      throws Exception {
    procedure();
    files.write(
        "V1__x.sql",
        "CREATE TABLE a(id INT PRIMARY KEY);",
        "UPDATE counter SET n = n + 1;",
        statement + ";",
        "UPDATE counter SET n = n + 100;");
    MigrationException next = dieAt(statement.substring(0, 8), /* lastIsSent= */ true);
    if (unknown) {
      assertNotNull(next, "the run took the statement for done or undone");
      assertEquals(MigrationException.Reason.UNKNOWN_OUTCOME, next.reason(), next.getMessage());
      assertTrue(next.getMessage().contains("statement 3 of 4"), next.getMessage());
    } else {
      assertNull(next, () -> String.valueOf(next));
      assertEquals("101", queries.ask("SELECT n FROM counter"));
    }
  }

  private void procedure() throws SQLException {
    queries.execute(
        "CREATE PROCEDURE committing() BEGIN CREATE TABLE made(id INT);"
            + " UPDATE counter SET n = n + 10; END");
    queries.execute(
        "CREATE PROCEDURE failing() BEGIN CREATE TABLE made(id INT);"
            + " UPDATE counter SET n = n + 10; INSERT INTO nowhere VALUES (1); END");
  }

  /** What the procedure leaves open is part of the transaction that says that it is done. */
  @Test
  void procedureThatCommitsIsDoneOnce() throws Exception {
    procedure();
    files.write(
        "V1__x.sql",
        "UPDATE counter SET n = n + 1;",
        "CALL committing();",
        "UPDATE counter SET n = n + 100;");
    assertEquals(1, migrate());
    assertEquals("111", queries.ask("SELECT n FROM counter"));
    assertEquals(0, migrate());
  }

  @Test
  void procedureThatFailsBehindACommitIsAskedFor() throws Exception {
    procedure();
    files.write("V1__x.sql", "UPDATE counter SET n = n + 1;", "CALL failing();");
    MigrationException failed = assertThrows(MigrationException.class, this::migrate);
    assertEquals(MigrationException.Reason.STATEMENT, failed.reason(), failed.getMessage());
    assertTrue(failed.getMessage().contains("may have taken effect in part"), failed.getMessage());
    MigrationException asks = assertThrows(MigrationException.class, this::migrate);
    assertEquals(MigrationException.Reason.UNKNOWN_OUTCOME, asks.reason(), asks.getMessage());
    migrations(database()).repair(Optional.of(true));
    assertEquals(1, migrate());
    assertEquals("1", queries.ask("SELECT n FROM counter"));
  }

  /** The procedure has committed, so that the next run need not wait for the first. */
  @Test
  void laterHolderIsNoticedBehindAProcedureThatCommits() throws Exception {
    queries.execute(
        "CREATE PROCEDURE slow() BEGIN CREATE TABLE made(id INT); DO GET_LOCK('t', 60);"
            + " UPDATE counter SET n = n + 10; END");
    files.write("V1__x.sql", "CALL slow();", "UPDATE counter SET n = n + 100;");
    queries.execute("DO GET_LOCK('t', 0)");
    Future<Integer> first = runners.submit(this::migrate);
    awaitState("User lock");
    new Queries(keeper).execute("SELECT force_release_lock('" + LOCK + "')");
    MigrationException asks = assertThrows(MigrationException.class, this::migrate);
    assertEquals(MigrationException.Reason.UNKNOWN_OUTCOME, asks.reason(), asks.getMessage());
    queries.execute("DO RELEASE_LOCK('t')");
    ExecutionException refused = assertThrows(ExecutionException.class, first::get);
    MigrationException lost = (MigrationException) refused.getCause();
    assertEquals(MigrationException.Reason.LOCK_LOST, lost.reason(), lost.getMessage());
    assertEquals("0", queries.ask("SELECT n FROM counter"));
  }

  @Test
  void databaseOfTheDoneStatementsIsUsedAgain() throws Exception {
    files.write(
        "V1__x.sql",
        "USE elsewhere;",
        "CREATE TABLE t(id INT PRIMARY KEY);",
        "SET SESSION sql_mode = '';",
        "INSERT INTO t VALUES ('2x');");
    assertNull(dieAt("INSERT INTO t", /* lastIsSent= */ false));
    assertEquals("2", queries.ask("SELECT id FROM elsewhere.t"));
  }

  @Test
  void variableOfTheDoneStatementsIsMissedAloud() throws Exception {
    files.write(
        "V1__x.sql",
        "SET @n = 7;",
        "CREATE TABLE t(id INT PRIMARY KEY);",
        "INSERT INTO t VALUES (@n);");
    MigrationException gone = dieAt("INSERT INTO t", /* lastIsSent= */ false);
    assertNotNull(gone, "NULL was inserted");
    assertEquals(MigrationException.Reason.UNKNOWN_OUTCOME, gone.reason(), gone.getMessage());
    assertTrue(gone.getMessage().contains("line 1"), gone.getMessage());
    files.write(
        "V1__x.sql",
        "-- tollgate: session=new",
        "SET @n = 7;",
        "CREATE TABLE t(id INT PRIMARY KEY);",
        "SET @n = 8;",
        "INSERT INTO t VALUES (@n);");
    assertEquals(1, migrate());
    assertEquals("8", queries.ask("SELECT id FROM t"));
  }

  /** The first run is at work in the server when its lock goes to the second. */
  @Test
  void statementThatIsStillRunningIsWaitedForAndRolledBack() throws Exception {
    files.write("V1__slow.sql", "UPDATE counter SET n = n + 1;", "SELECT GET_LOCK('t', 60);");
    queries.execute("DO GET_LOCK('t', 0)");
    Future<Integer> first = runners.submit(this::migrate);
    awaitState("User lock");
    new Queries(keeper).execute("SELECT force_release_lock('" + LOCK + "')");
    Future<Integer> second = runners.submit(this::migrate);
    awaitState("Updat%");
    queries.execute("DO RELEASE_LOCK('t')");
    ExecutionException refused = assertThrows(ExecutionException.class, first::get);
    MigrationException lost = (MigrationException) refused.getCause();
    assertEquals(MigrationException.Reason.LOCK_LOST, lost.reason(), lost.getMessage());
    assertEquals(1, second.get());
    assertEquals("1", queries.ask("SELECT n FROM counter"));
  }

  private void awaitState(String state) {
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                queries
                    .ask(
                        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.PROCESSLIST WHERE STATE LIKE '"
                            + state
                            + "'")
                    .equals("1"));
  }

  /** The lock is lost between two statements: the next one, a definition, is refused. */
  @Test
  void definitionOfARunThatHasLostItsLockIsRefused() throws Exception {
    files.write(
        "V1__definitions.sql", "CREATE TABLE first(id INT);", "CREATE TABLE second(id INT);");
    BiPredicate<Integer, String> pause =
        (number, statement) -> {
          if (statement.startsWith("CREATE TABLE first")) {
            forceRelease();
          }
          return false;
        };
    MortalDatabase paused = new MortalDatabase(database(), "", pause, false);
    MigrationException lost =
        assertThrows(MigrationException.class, () -> migrations(paused).migrate());
    assertEquals(MigrationException.Reason.LOCK_LOST, lost.reason(), lost.getMessage());
    assertEquals(
        "0",
        queries.ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'second'"));
  }

  private void forceRelease() {
    try {
      new Queries(keeper).execute("SELECT force_release_lock('" + LOCK + "')");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The definition has committed what was before it, and released the row of the fence. */
  @Test
  void programThatHasLostItsLockCommitsNothingAfterADefinition() throws Exception {
    Duration time = Duration.ofSeconds(15);
    try (FencedMigration program =
            FencedMigration.acquire(
                Database.at(tollgate, Map.of(), getClass().getClassLoader()), LOCK, time, time);
        Connection connection = database().connect(Map.of())) {
      FencedMigration.Work<Integer> work =
          inTransaction -> {
            Queries statements = new Queries(inTransaction);
            statements.execute("UPDATE counter SET n = n + 1");
            statements.execute("CREATE TABLE entry(id INT)");
            queries.execute("UPDATE tollgate_fence SET token = token + 1");
            statements.execute("UPDATE counter SET n = n + 10");
            return 0;
          };
      MigrationException lost =
          assertThrows(MigrationException.class, () -> program.inTransaction(connection, work));
      assertEquals(MigrationException.Reason.LOCK_LOST, lost.reason(), lost.getMessage());
    }
    assertEquals("1", queries.ask("SELECT n FROM counter"));
  }

  /** Even if the first run believed in its lock, the row of the fence would stop it. */
  @Test
  void staleTokenIsRefusedByTheRowOfTheFence() throws Exception {
    scripts();
    migrate();
    queries.execute("UPDATE tollgate_fence SET token = token + 1000000");
    files.write("V3__late.sql", "CREATE TABLE late(id INT);");
    MigrationException stale = assertThrows(MigrationException.class, this::migrate);
    assertEquals(MigrationException.Reason.LOCK_LOST, stale.reason());
    assertTrue(stale.getMessage().contains("a later holder of lock"), stale.getMessage());
    assertEquals(
        "0",
        queries.ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'late'"));
  }
}
