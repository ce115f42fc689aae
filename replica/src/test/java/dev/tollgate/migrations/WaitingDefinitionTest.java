package dev.tollgate.migrations;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    new ScriptFiles(folder)
        .write("V1__two.sql", "ALTER TABLE t ADD COLUMN x INT;", "CREATE TABLE t_b(id INT);");
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

  private void requireAllIsDone() throws SQLException {
    assertEquals(
        "ID X",
        queries.ask(
            "SELECT LISTAGG(COLUMN_NAME, ' ') WITHIN GROUP (ORDER BY ORDINAL_POSITION) FROM"
                + " INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'T'"));
    assertEquals("0", queries.ask("SELECT COUNT(*) FROM t_b"));
  }

  @Test
  void runnerIsKilledDuringTheWaitAndAnotherClientDefinesSomething() throws Exception {
    Future<Integer> running = runThatWaits();
    for (Connection connection : ofTheRun) {
      connection.abort(Runnable::run);
    }
    queries.execute("SELECT force_release_lock('migrations:PUBLIC.tollgate_schema_history')");
    assertThrows(ExecutionException.class, running::get);
    awaitAnswer("2", "SELECT COUNT(*) FROM TOLLGATE.SESSIONS");
    holder.commit();
    queries.execute("CREATE TABLE of_another_client(id INT)");
    assertEquals(1, migrations().migrate());
    requireAllIsDone();
  }

  /** A definition ends queries that keep it waiting. */
  private void awaitAnswer(String expected, String query) {
    await()
        .atMost(Duration.ofSeconds(120))
        .ignoreExceptions()
        .until(() -> queries.ask(query), expected::equals);
  }

  @Test
  void runnerLosesItsLockDuringTheWaitAndAnotherClientDefinesSomething() throws Exception {
    Future<Integer> running = runThatWaits();
    queries.execute("SELECT force_release_lock('migrations:PUBLIC.tollgate_schema_history')");
    holder.commit();
    ExecutionException lost = assertThrows(ExecutionException.class, running::get);
    assertEquals(
        MigrationException.Reason.LOCK_LOST, ((MigrationException) lost.getCause()).reason());
    queries.execute("CREATE TABLE of_another_client(id INT)");
    assertEquals(1, migrations().migrate());
    requireAllIsDone();
  }
}
