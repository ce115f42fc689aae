package dev.tollgate.migrations;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A definition waits for the transaction of another session, and its runner ends meanwhile. */
class WaitingDefinitionTest {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final List<Connection> ofTheRun = new CopyOnWriteArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  @TempDir private Path folder;
  private Connection other;
  private Connection holder;
  private Queries queries;

  @BeforeEach
  void startNode() throws Exception {
    other = DriverManager.getConnection(url);
    queries = new Queries(other);
    queries.execute("CREATE TABLE t(id INT)");
    holder = DriverManager.getConnection(url);
    holder.setAutoCommit(false);
    new Queries(holder).execute("INSERT INTO t VALUES (1)");
  }

  @AfterEach
  void stopNode() throws SQLException {
    threads.shutdownNow();
    holder.close();
    other.close();
  }

  private Migrations migrations() throws MigrationException {
    Database real = Database.at(url, Map.of(), getClass().getClassLoader());
    Database remembered =
        new Database() {
          @Override
          public String url() {
            return real.url();
          }

          @Override
          public Connection connect(Map<String, String> properties)
              throws SQLException, MigrationException {
            Connection connection = real.connect(properties);
            ofTheRun.add(connection);
            return connection;
          }
        };
    return new Migrations(
        MigrationSettings.of(folder, remembered)
            .withLock(Duration.ofSeconds(15), Duration.ofSeconds(20)),
        Progress.NONE);
  }

  /** Returns once the ALTER of the run waits for the holder's transaction. */
  private Future<Integer> runThatWaits() throws Exception {
    Migrations run = migrations();
    Future<Integer> running = threads.submit(run::migrate);
    awaitAnswer("1", "SELECT SUM(STATEMENTS_WAITING) FROM TOLLGATE.TRANSACTIONS");
    return running;
  }

  /** A definition of table t, and what tells that it has run once. */
  private enum Definition {
    COLUMN(
        "ALTER TABLE t ADD COLUMN x INT",
        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE COLUMN_NAME = 'X'"),
    UNNAMED_INDEX(
        "CREATE INDEX ON t(id)",
        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.INDEXES WHERE TABLE_NAME = 'T'"),
    TRUNCATE("TRUNCATE TABLE t", "SELECT 1 + COUNT(*) FROM t"),
    FENCE(
        "ALTER TABLE t FENCED BY LOCK 'f'",
        "SELECT COUNT(*) FROM TOLLGATE.FENCES WHERE TABLE_NAME = 'T'"),
    RENAMED(
        "ALTER TABLE t RENAME TO u",
        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'U'");

    private final String sql;
    private final String once;

    Definition(String sql, String once) {
      this.sql = sql;
      this.once = once;
    }
  }

  /** How the run ends while its definition waits. */
  private enum End {
    KILLED,
    LOCK_TAKEN
  }

  @ParameterizedTest
  @CsvSource({
    "COLUMN, KILLED, true",
    "COLUMN, LOCK_TAKEN, true",
    "TRUNCATE, KILLED, false",
    "FENCE, KILLED, true",
  })
  void definitionRunsOnceHoweverTheRunEnds(Definition definition, End end, boolean others)
      throws Exception {
    endDuringTheWait(definition, end, others);
  }

  @ParameterizedTest
  @MethodSource("everyCase")
  @Tag("nightly")
  void definitionRunsOnceInEveryCase(Definition definition, End end, boolean others)
      throws Exception {
    endDuringTheWait(definition, end, others);
  }

  private static List<Arguments> everyCase() {
    List<Arguments> cases = new ArrayList<>();
    for (Definition definition : Definition.values()) {
      for (End end : End.values()) {
        cases.add(Arguments.of(definition, end, true));
        cases.add(Arguments.of(definition, end, false));
      }
    }
    return cases;
  }

  /**
   * @param others whether another client defines something before the next run
   */
  private void endDuringTheWait(Definition definition, End end, boolean others) throws Exception {
    new ScriptFiles(folder).write("V1__two.sql", definition.sql + ";", "CREATE TABLE t_b(id INT);");
    Future<Integer> running = runThatWaits();
    if (end == End.KILLED) {
      for (Connection connection : ofTheRun) {
        connection.abort(Runnable::run);
      }
    }
    queries.execute("SELECT force_release_lock('migrations:PUBLIC.tollgate_schema_history')");
    if (end == End.KILLED) {
      assertThrows(ExecutionException.class, running::get);
      awaitAnswer("2", "SELECT COUNT(*) FROM TOLLGATE.SESSIONS");
      holder.commit();
    } else {
      holder.commit();
      ExecutionException lost = assertThrows(ExecutionException.class, running::get);
      assertEquals(
          MigrationException.Reason.LOCK_LOST, ((MigrationException) lost.getCause()).reason());
    }
    assertNotEquals("1", queries.ask(definition.once), "the definition never ran");
    if (others) {
      queries.execute("CREATE TABLE of_another_client(id INT)");
    }
    assertEquals(1, migrations().migrate());
    assertEquals("1", queries.ask(definition.once));
    assertEquals("0", queries.ask("SELECT COUNT(*) FROM t_b"));
  }

  /** A definition ends queries that keep it waiting. */
  private void awaitAnswer(String expected, String query) {
    await()
        .atMost(Duration.ofMinutes(2))
        .ignoreExceptions()
        .until(() -> queries.ask(query), expected::equals);
  }
}
