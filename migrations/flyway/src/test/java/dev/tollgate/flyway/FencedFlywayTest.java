package dev.tollgate.flyway;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.migrations.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.flywaydb.database.postgresql.PostgreSQLConfigurationExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Flyway on PostgreSQL, under a lock of Tollgate. Skipped where PostgreSQL is not installed. */
class FencedFlywayTest {
  private static final String LOCK = "flyway:public.flyway_schema_history";
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  @RegisterExtension static final PostgresServer postgres = new PostgresServer();

  @RegisterExtension final TestNode node = new TestNode();
  private Connection other;
  private ExecutorService runners;

  @BeforeEach
  void connect() throws SQLException {
    other = DriverManager.getConnection(postgres.url());
    runners = Executors.newCachedThreadPool();
    empty();
  }

  @AfterEach
  void disconnect() throws SQLException {
    runners.shutdownNow();
    other.close();
  }

  private void empty() throws SQLException {
    execute("DROP SCHEMA IF EXISTS public CASCADE");
    execute("CREATE SCHEMA public");
    execute("DROP SCHEMA IF EXISTS count CASCADE");
    execute("CREATE SCHEMA count CREATE TABLE counter(n INT)");
    execute("INSERT INTO count.counter VALUES (0)");
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = other.createStatement()) {
      statement.execute(sql);
    }
  }

  private String ask(String sql) throws SQLException {
    return TestNode.ask(other, sql);
  }

  private FluentConfiguration configuration() {
    return node.configuration().dataSource(postgres.url(), null, null);
  }

  private FencedFlyway fenced() {
    return FencedFlyway.under(node.url());
  }

  private int migrate() {
    return fenced().migrate(configuration().load()).migrationsExecuted;
  }

  private void writeScripts() throws Exception {
    node.write(
        "V1__mixed.sql",
        "CREATE TABLE entry(id INT PRIMARY KEY, what TEXT);",
        "UPDATE count.counter SET n = n + 1;",
        "ALTER TABLE entry ADD CHECK (id > 0);");
    node.write(
        "V2__more.sql", "UPDATE count.counter SET n = n + 10;", "INSERT INTO entry VALUES (1);");
    node.write("R__view.sql", "CREATE OR REPLACE VIEW twos AS SELECT 2 * id AS two FROM entry;");
  }

  @Test
  void scriptsRunOnceAndRaiseTheFence() throws Exception {
    writeScripts();
    List<Callable<Integer>> runs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      runs.add(this::migrate);
    }
    int ran = 0;
    for (Future<Integer> run : runners.invokeAll(runs)) {
      ran += run.get();
    }
    assertEquals(3, ran);
    assertEquals("11", ask("SELECT n FROM count.counter"));
    assertEquals("2", ask("SELECT two FROM twos"));
    assertEquals(LOCK, ask("SELECT name FROM tollgate_fence"));
    assertEquals("0", ask("SELECT COUNT(*) FROM tollgate_applied"));
    node.write("R__view.sql", "CREATE OR REPLACE VIEW twos AS SELECT 3 * id AS two FROM entry;");
    assertEquals(1, migrate());
    assertEquals("3", ask("SELECT two FROM twos"));
    configuration().load().validate();
  }

  @Test
  void failedScriptIsRolledBackAsAWhole() throws Exception {
    node.write(
        "V1__fails.sql",
        "CREATE TABLE entry(id INT);",
        "UPDATE count.counter SET n = 1;",
        "INSERT INTO nowhere VALUES (1);");
    assertThrows(FlywayException.class, this::migrate);
    assertEquals("0", ask("SELECT n FROM count.counter"));
    node.write("V1__fails.sql", "UPDATE count.counter SET n = 2;");
    assertEquals(1, migrate());
    assertEquals("2", ask("SELECT n FROM count.counter"));
  }

  /** A mark that outlived its row would say that the migration is applied. */
  @Test
  void migrationThatWasUndoneByHandAfterAFailureIsAppliedAgain() throws Exception {
    node.write("V1__one.sql", "CREATE TABLE one(id INT);");
    node.write("V2__two.sql", "CREATE TABLE two(id INT);");
    node.write("V3__three.sql", "INSERT INTO nowhere VALUES (1);");
    assertThrows(FlywayException.class, this::migrate);
    assertEquals("0", ask("SELECT COUNT(*) FROM tollgate_applied"));
    execute("DROP TABLE two");
    execute("DELETE FROM flyway_schema_history WHERE version = '2'");
    node.write("V3__three.sql", "CREATE TABLE three(id INT);");
    assertEquals(2, migrate());
    assertEquals("0", ask("SELECT COUNT(*) FROM two"));
  }

  /** What a run without Tollgate has done since is later than the mark. */
  @Test
  void repeatableScriptThatAnotherRunHasChangedIsAppliedAgain() throws Exception {
    writeScripts();
    migrate();
    String view = "CREATE OR REPLACE VIEW twos AS SELECT %d * id AS two FROM entry;";
    String marked =
        ask(
            "SELECT checksum || ', ' || installed_rank - 1 FROM flyway_schema_history"
                + " WHERE script = 'R__view.sql'");
    execute(
        "INSERT INTO tollgate_applied(name, script, checksum, history_rank) VALUES ('"
            + LOCK
            + "', 'R__view.sql', "
            + marked
            + ")");
    node.write("R__view.sql", String.format(view, 3));
    configuration().load().migrate();
    assertEquals("3", ask("SELECT two FROM twos"));
    node.write("R__view.sql", String.format(view, 2));
    assertEquals(1, migrate());
    assertEquals("2", ask("SELECT two FROM twos"));
  }

  @Test
  void changedScriptIsRefused() throws Exception {
    writeScripts();
    migrate();
    node.write("V1__mixed.sql", "UPDATE count.counter SET n = n + 100;");
    FlywayException changed = assertThrows(FlywayException.class, this::migrate);
    assertTrue(changed.getMessage().contains("checksum mismatch"), changed.getMessage());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void runAfterAKilledOneAppliesTheRestOnce(boolean lastIsSent) throws Exception {
    assertTrue(dieAtEach(23, lastIsSent) > 5);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("nightly")
  void runAfterOneKilledAtEachRequestAppliesTheRestOnce(boolean lastIsSent) throws Exception {
    assertTrue(dieAtEach(1, lastIsSent) > 100);
  }

  /** Returns how many runs have died. */
  private int dieAtEach(int step, boolean lastIsSent) throws Exception {
    writeScripts();
    PGSimpleDataSource database = new PGSimpleDataSource();
    database.setUrl(postgres.url());
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request += step) {
      int last = request;
      empty();
      MortalDataSource mortal =
          new MortalDataSource(database, (number, statement) -> number == last, lastIsSent);
      try {
        fenced().migrate(node.configuration().dataSource(mortal).load());
        died = mortal.isDead();
      } catch (MortalDataSource.Death e) {
        assertTrue(mortal.isDead());
      }
      migrate();
      assertEquals("11", ask("SELECT n FROM count.counter"), last + " " + mortal.last());
      assertEquals(
          "3",
          ask("SELECT COUNT(*) FROM flyway_schema_history WHERE success"),
          last + " " + mortal.last());
      deaths += died ? 1 : 0;
    }
    return deaths;
  }

  /** Flyway commits its history on another connection, after the script. */
  @Test
  void scriptThatTheHistoryDoesNotHaveIsNotAppliedAgain() throws Exception {
    writeScripts();
    PGSimpleDataSource database = new PGSimpleDataSource();
    database.setUrl(postgres.url());
    AtomicBoolean atTheEnd = new AtomicBoolean();
    MortalDataSource mortal =
        new MortalDataSource(
            database,
            (number, statement) -> {
              atTheEnd.compareAndSet(false, statement.startsWith("ALTER TABLE entry"));
              return atTheEnd.get() && statement.equals("commit");
            },
            true);
    assertThrows(
        MortalDataSource.Death.class,
        () -> fenced().migrate(node.configuration().dataSource(mortal).load()));
    assertEquals("1", ask("SELECT n FROM count.counter"));
    assertEquals("0", ask("SELECT COUNT(*) FROM flyway_schema_history"));
    assertEquals(3, migrate());
    assertEquals("11", ask("SELECT n FROM count.counter"));
  }

  /** Even if the first run believed in its lock, the row of the fence would stop it. */
  @Test
  void staleTokenIsRefusedByTheRowOfTheFence() throws Exception {
    writeScripts();
    migrate();
    execute("UPDATE tollgate_fence SET token = token + 1000000");
    node.write("V3__late.sql", "UPDATE count.counter SET n = n + 100;");
    FlywayException stale = assertThrows(FlywayException.class, this::migrate);
    assertTrue(stale.getMessage().contains("a later holder of lock"), stale.getMessage());
    assertEquals("11", ask("SELECT n FROM count.counter"));
  }

  @Test
  void runThatHasLostItsLockDoesNotCommit() throws Exception {
    node.write(
        "V1__slow.sql", "UPDATE count.counter SET n = n + 1;", "SELECT pg_advisory_xact_lock(7);");
    execute("SELECT pg_advisory_lock(7)");
    Future<Integer> first = runners.submit(this::migrate);
    await().atMost(DEADLINE).until(() -> waiting(7));
    node.execute("SELECT force_release_lock('" + LOCK + "')");
    execute("SELECT pg_advisory_unlock(7)");
    ExecutionException refused = assertThrows(ExecutionException.class, first::get);
    assertTrue(
        refused.getCause().getMessage().startsWith("The run was refused: lock '" + LOCK + "'"),
        refused.getCause().getMessage());
    assertEquals("0", ask("SELECT n FROM count.counter"));
  }

  private boolean waiting(int key) throws SQLException {
    return ask("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid"
            + " = "
            + key)
        .equals("1");
  }

  @Test
  void formerRunIsEnded() throws Exception {
    node.write(
        "V1__slow.sql", "UPDATE count.counter SET n = n + 1;", "SELECT pg_advisory_xact_lock(7);");
    execute("SELECT pg_advisory_lock(7)");
    Future<Integer> first = runners.submit(this::migrate);
    await().atMost(DEADLINE).until(() -> waiting(7));
    node.execute("SELECT force_release_lock('" + LOCK + "')");
    Future<Integer> second =
        runners.submit(
            () ->
                fenced().withEndOfFormerRuns().migrate(configuration().load()).migrationsExecuted);
    ExecutionException ended = assertThrows(ExecutionException.class, first::get);
    assertTrue(ended.getCause() instanceof FlywayException, ended.toString());
    await().atMost(DEADLINE).until(() -> waiting(7));
    execute("SELECT pg_advisory_unlock(7)");
    assertEquals(1, second.get());
    assertEquals("1", ask("SELECT n FROM count.counter"));
  }

  /** Flyway's own lock has a transaction open by default, which such an index waits for. */
  @Test
  @SuppressWarnings("deprecation") // the one name that each version of Flyway has
  void statementOutsideATransactionIsCheckedFirst() throws Exception {
    writeScripts();
    node.write("V3__index.sql", "CREATE INDEX CONCURRENTLY entries ON entry(what);");
    FluentConfiguration configuration = configuration();
    configuration
        .getPluginRegister()
        .getPlugin(PostgreSQLConfigurationExtension.class)
        .setTransactionalLock(false);
    assertEquals(4, fenced().migrate(configuration.load()).migrationsExecuted);
    assertEquals("1", ask("SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'entries'"));
  }

  @Test
  void tollgateIsNoOtherDatabase() throws Exception {
    writeScripts();
    Flyway flyway = node.flyway();
    FlywayException refused = assertThrows(FlywayException.class, () -> fenced().migrate(flyway));
    assertTrue(refused.getMessage().contains("call migrate() of Flyway"), refused.getMessage());
    assertThrows(FlywayException.class, () -> FencedFlyway.under(postgres.url()));
  }
}
