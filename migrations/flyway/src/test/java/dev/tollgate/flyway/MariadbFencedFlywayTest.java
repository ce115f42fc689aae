package dev.tollgate.flyway;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.migrations.MariadbServer;
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
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mariadb.jdbc.MariaDbDataSource;

/**
 * Flyway on MariaDB, which commits at each definition, under a lock of Tollgate. Each script has
 * its definitions first, and they may be repeated. Skipped where MariaDB is not installed.
 */
@Tag("nightly")
class MariadbFencedFlywayTest {
  private static final String LOCK = "flyway:shop.flyway_schema_history";
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  @RegisterExtension static final MariadbServer mariadb = new MariadbServer();

  @RegisterExtension final TestNode node = new TestNode();
  private Connection other;
  private ExecutorService runners;

  @BeforeEach
  void connect() throws SQLException {
    other = DriverManager.getConnection(mariadb.url());
    runners = Executors.newCachedThreadPool();
    empty();
  }

  @AfterEach
  void disconnect() throws SQLException {
    runners.shutdownNow();
    other.close();
  }

  private void empty() throws SQLException {
    for (String database : List.of("shop", "count")) {
      execute("DROP DATABASE IF EXISTS " + database);
      execute("CREATE DATABASE " + database);
    }
    execute("USE shop");
    execute("CREATE TABLE count.counter(n INT)");
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

  private static String url() {
    return mariadb.url().replace("/tests", "/shop");
  }

  private FluentConfiguration configuration() {
    return node.configuration().dataSource(url(), null, null);
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
        "CREATE TABLE IF NOT EXISTS entry(id INT PRIMARY KEY, what TEXT);",
        "ALTER TABLE entry ADD COLUMN IF NOT EXISTS more INT;",
        "UPDATE count.counter SET n = n + 1;",
        "UPDATE count.counter SET n = n + 100;");
    node.write(
        "V2__more.sql",
        "UPDATE count.counter SET n = n + 10;",
        "INSERT INTO entry(id) VALUES (1);");
    node.write("R__view.sql", "CREATE OR REPLACE VIEW twos AS SELECT 2 * id AS two FROM entry;");
  }

  private void assertDone(String after) throws SQLException {
    assertEquals("111", ask("SELECT n FROM count.counter"), after);
    assertEquals("2", ask("SELECT two FROM twos"), after);
    assertEquals("3", ask("SELECT COUNT(*) FROM flyway_schema_history WHERE success"), after);
  }

  @Test
  void tenRunsAtOnceRunEachScriptOnce() throws Exception {
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
    assertDone("");
    assertEquals(LOCK, ask("SELECT name FROM tollgate_fence"));
    assertEquals("0", ask("SELECT COUNT(*) FROM tollgate_applied"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void runAfterOneKilledAtEachRequestAppliesTheRestOnce(boolean lastIsSent) throws Exception {
    writeScripts();
    MariaDbDataSource database = new MariaDbDataSource(url());
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request++) {
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
      assertDone(last + " " + mortal.last());
      deaths += died ? 1 : 0;
    }
    assertTrue(deaths > 100, "only " + deaths);
  }

  /** Flyway commits the statements of a failed migration here, unless the fence takes them back. */
  @Test
  void runThatHasLostItsLockDoesNotCommit() throws Exception {
    node.write(
        "V1__slow.sql",
        "UPDATE count.counter SET n = n + 1;",
        "SELECT GET_LOCK('t', 60);",
        "CREATE TABLE late(id INT);");
    execute("DO GET_LOCK('t', 0)");
    Future<Integer> first = runners.submit(this::migrate);
    String waiting =
        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.PROCESSLIST WHERE STATE = 'User lock'"
            + " AND INFO LIKE '%''t'', 60%'";
    await().atMost(DEADLINE).until(() -> ask(waiting).equals("1"));
    node.execute("SELECT force_release_lock('" + LOCK + "')");
    execute("DO RELEASE_LOCK('t')");
    ExecutionException refused = assertThrows(ExecutionException.class, first::get);
    assertTrue(
        refused.getCause().getMessage().startsWith("The run was refused: lock '" + LOCK + "'"),
        refused.getCause().getMessage());
    assertEquals("0", ask("SELECT n FROM count.counter"));
    assertEquals(
        "0", ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'late'"));
  }

  /** Even if the run believed in its lock, the row of the fence would stop it. */
  @Test
  void staleTokenIsRefusedByTheRowOfTheFence() throws Exception {
    writeScripts();
    migrate();
    execute("UPDATE tollgate_fence SET token = token + 1000000");
    node.write("V3__late.sql", "CREATE TABLE late(id INT);");
    FlywayException stale = assertThrows(FlywayException.class, this::migrate);
    assertTrue(stale.getMessage().contains("a later holder of lock"), stale.getMessage());
    assertEquals(
        "0", ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'late'"));
  }
}
