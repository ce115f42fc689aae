package dev.tollgate.migrations;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that change PostgreSQL under a lock of Tollgate. Skipped where it is not installed. */
class PostgresFencedMigrationTest {
  private static final Duration TIME = Duration.ofSeconds(30);
  @RegisterExtension static final PostgresServer postgres = new PostgresServer();

  private final String tollgate = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private Connection keeper;
  private Connection other;
  private Queries queries;
  private ExecutorService programs;

  @BeforeEach
  void startNode() throws SQLException {
    keeper = DriverManager.getConnection(tollgate);
    other = DriverManager.getConnection(postgres.url());
    queries = new Queries(other);
    programs = Executors.newCachedThreadPool();
    empty();
  }

  @AfterEach
  void stopNode() throws SQLException {
    programs.shutdownNow();
    other.close();
    keeper.close();
  }

  private void empty() throws SQLException {
    queries.execute("DROP SCHEMA IF EXISTS public CASCADE");
    queries.execute("CREATE SCHEMA public");
    queries.execute("CREATE TABLE counter(n INT)");
    queries.execute("INSERT INTO counter VALUES (0)");
    queries.execute("CREATE TABLE step(name TEXT PRIMARY KEY)");
  }

  /** Reads and writes back, which nothing but the lock protects from other programs. */
  private static Integer count(Connection connection) throws SQLException {
    Queries queries = new Queries(connection);
    int n = Integer.parseInt(queries.ask("SELECT n FROM counter"));
    queries.execute("UPDATE counter SET n = " + (n + 1));
    return n + 1;
  }

  /** A step that is done once, whichever program does it. */
  private static Boolean step(Connection connection) throws SQLException {
    Queries queries = new Queries(connection);
    if (!queries.ask("SELECT COUNT(*) FROM step WHERE name = 'column'").equals("0")) {
      return false;
    }
    queries.execute("ALTER TABLE counter ADD COLUMN more INT");
    queries.execute("INSERT INTO step VALUES ('column')");
    count(connection);
    return true;
  }

  private <R> R run(Database database, FencedMigration.Work<R> work)
      throws SQLException, MigrationException {
    try (FencedMigration migration =
            FencedMigration.acquire(Database.at(tollgate), "shop", TIME, TIME);
        Connection connection = database.connect(Map.of())) {
      return migration.inTransaction(connection, work);
    }
  }

  @Test
  void tenProgramsAtOnceChangeTheSameRowOneAfterTheOther() throws Exception {
    List<Callable<Integer>> all = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      all.add(() -> run(Database.at(postgres.url()), PostgresFencedMigrationTest::count));
    }
    for (Future<Integer> each : programs.invokeAll(all)) {
      each.get();
    }
    assertEquals("10", queries.ask("SELECT n FROM counter"));
    assertEquals("shop", queries.ask("SELECT name FROM tollgate_fence"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void programAfterAKilledOneDoesTheStepOnce(boolean lastIsSent) throws Exception {
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request++) {
      int last = request;
      empty();
      MortalDatabase mortal =
          new MortalDatabase(
              Database.at(postgres.url()), "", (number, statement) -> number == last, lastIsSent);
      try {
        run(mortal, PostgresFencedMigrationTest::step);
        died = mortal.isDead();
      } catch (SQLException | MigrationException e) {
        assertTrue(mortal.isDead(), () -> "died of " + e);
      }
      run(Database.at(postgres.url()), PostgresFencedMigrationTest::step);
      assertEquals("1", queries.ask("SELECT n FROM counter"), mortal.last());
      deaths += died ? 1 : 0;
    }
    assertTrue(deaths > 8, "only " + deaths);
  }

  /** Its transaction is open in the server when its lock goes to the second program. */
  @Test
  void transactionOfAFormerHolderIsWaitedForAndRolledBack() throws Exception {
    queries.execute("SELECT pg_advisory_lock(7)");
    Future<Integer> first =
        programs.submit(
            () ->
                run(
                    Database.at(postgres.url()),
                    connection -> {
                      count(connection);
                      new Queries(connection).ask("SELECT pg_advisory_xact_lock(7)");
                      return 0;
                    }));
    awaitWaiting(1);
    new Queries(keeper).execute("SELECT force_release_lock('shop')");
    Future<Boolean> second =
        programs.submit(
            () ->
                run(
                    Database.at(postgres.url()),
                    connection -> {
                      new Queries(connection).execute("INSERT INTO step VALUES ('other rows')");
                      return true;
                    }));
    awaitWaiting(2);
    queries.execute("SELECT pg_advisory_unlock(7)");
    ExecutionException refused = assertThrows(ExecutionException.class, first::get);
    MigrationException lost = (MigrationException) refused.getCause();
    assertEquals(MigrationException.Reason.LOCK_LOST, lost.reason(), lost.getMessage());
    assertTrue(second.get());
    assertEquals("0", queries.ask("SELECT n FROM counter"));
  }

  private void awaitWaiting(int count) {
    await()
        .atMost(TIME)
        .until(
            () ->
                queries
                    .ask("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
                    .equals(Integer.toString(count)));
  }

  @Test
  void indexIsBuiltOutsideATransaction() throws Exception {
    String index = "CREATE INDEX CONCURRENTLY counted ON counter(n)";
    try (FencedMigration migration =
        FencedMigration.acquire(Database.at(tollgate), "shop", TIME, TIME)) {
      migration.outsideTransaction(other, index);
      assertEquals("1", queries.ask("SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'counted'"));
      queries.execute("DROP INDEX counted");
      queries.execute("UPDATE tollgate_fence SET token = token + 1");
      MigrationException stale =
          assertThrows(MigrationException.class, () -> migration.outsideTransaction(other, index));
      assertEquals(MigrationException.Reason.LOCK_LOST, stale.reason());
      assertEquals("0", queries.ask("SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'counted'"));
    }
  }
}
