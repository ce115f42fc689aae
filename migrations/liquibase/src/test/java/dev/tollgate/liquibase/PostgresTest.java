package dev.tollgate.liquibase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.FenceRow;
import dev.tollgate.migrations.MigrationLock;
import dev.tollgate.migrations.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import liquibase.exception.LiquibaseException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes of PostgreSQL under a lock of Tollgate. Skipped where PostgreSQL is not installed. */
class PostgresTest {
  private static final String LOCK = "liquibase:postgres.public.databasechangelog";
  @RegisterExtension static final PostgresServer postgres = new PostgresServer();

  @RegisterExtension final TollgateNode node = new TollgateNode();
  @TempDir private Path folder;
  private ChangeLog changes;
  private Connection other;

  @BeforeEach
  void writeChanges() throws Exception {
    other = connect();
    empty();
    changes =
        new ChangeLog(folder)
            .changeSet(
                "1",
                "CREATE TABLE entry(id INT PRIMARY KEY, what TEXT);",
                "UPDATE counter SET n = n + 1;",
                "ALTER TABLE entry ADD CHECK (id > 0);",
                "--rollback UPDATE counter SET n = n - 1;",
                "--rollback DROP TABLE entry;")
            .changeSet(
                "2",
                "UPDATE counter SET n = n + 10;",
                "INSERT INTO entry VALUES (1, 'a');",
                "--rollback DELETE FROM entry;",
                "--rollback UPDATE counter SET n = n - 10;");
  }

  @AfterEach
  void disconnect() throws SQLException {
    other.close();
  }

  private static Connection connect() throws SQLException {
    return DriverManager.getConnection(postgres.url());
  }

  private void empty() throws SQLException {
    execute("DROP SCHEMA IF EXISTS public CASCADE");
    execute("CREATE SCHEMA public");
    execute("CREATE TABLE counter(n INT)");
    execute("INSERT INTO counter VALUES (0)");
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = other.createStatement()) {
      statement.execute(sql);
    }
  }

  private String ask(String sql) throws SQLException {
    return TollgateNode.ask(other, sql);
  }

  private void run(Connection connection, ChangeLog.Command command) throws Exception {
    changes.run(connection, Map.of("tollgate.lock.url", node.url()), command);
  }

  private void update() throws Exception {
    run(connect(), liquibase -> liquibase.update(""));
  }

  private void assertUpdated(String after) throws SQLException {
    assertEquals("11", ask("SELECT n FROM counter"), after);
    assertEquals("2", ask("SELECT COUNT(*) FROM databasechangelog"), after);
    assertEquals("1", ask("SELECT COUNT(*) FROM entry"), after);
  }

  @Test
  void updateRunsEachChangeSetOnceAndRaisesTheFence() throws Exception {
    update();
    update();
    assertUpdated("");
    assertEquals(LOCK, ask("SELECT name FROM tollgate_fence"));
    assertEquals("0", node.ask("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    assertEquals(
        "0", ask("SELECT COUNT(*) FROM pg_tables WHERE tablename = 'databasechangeloglock'"));
    run(connect(), liquibase -> liquibase.rollback(2, ""));
    assertEquals("0", ask("SELECT n FROM counter"));
    assertEquals("0", ask("SELECT COUNT(*) FROM databasechangelog"));
  }

  /** The statement behind it begins a transaction, which raises the row again. */
  @Test
  void commitBehindACommentIsSeen() throws Exception {
    Database tollgate = Database.at(node.url(), Map.of(), getClass().getClassLoader());
    try (Connection real = connect();
        MigrationLock lock =
            MigrationLock.acquire(tollgate, "changes", Duration.ofSeconds(15), Duration.ZERO)) {
      FenceRow row = FenceRow.of(real, lock);
      row.prepare(real);
      real.setAutoCommit(false);
      Connection fenced = new FencedConnection(real, lock, row).connection();
      try (Statement statement = fenced.createStatement()) {
        statement.execute("UPDATE counter SET n = 1");
        statement.execute("/* half */ COMMIT");
        execute("UPDATE tollgate_fence SET token = token + 1");
        SQLException refused =
            assertThrows(SQLException.class, () -> statement.execute("UPDATE counter SET n = 2"));
        assertEquals("23T01", refused.getSQLState());
        real.rollback();
      }
    }
  }

  @Test
  void nextRunAppliesTheRestOnceAfterSomeRequests() throws Exception {
    int deaths = dieAndRunAgain(/* step= */ 5, /* lastIsSent= */ true);
    assertTrue(deaths > 4, "only " + deaths);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("nightly")
  void nextRunAppliesTheRestOnceAfterEachRequest(boolean lastIsSent) throws Exception {
    int deaths = dieAndRunAgain(/* step= */ 1, lastIsSent);
    assertTrue(deaths > 15, "only " + deaths);
  }

  private int dieAndRunAgain(int step, boolean lastIsSent) throws Exception {
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request += step) {
      empty();
      MortalConnection mortal = new MortalConnection(connect(), request, lastIsSent);
      try {
        run(mortal.connection(), liquibase -> liquibase.update(""));
      } catch (LiquibaseException e) {
        assertTrue(mortal.isDead(), () -> "failed of " + ChangeLog.reasons(e));
      }
      update();
      assertUpdated("after death at " + mortal.last());
      died = mortal.isDead();
      deaths += died ? 1 : 0;
    }
    return deaths;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("nightly")
  void rollbackAfterAKilledOneTakesBackTheRestOnce(boolean lastIsSent) throws Exception {
    int deaths = 0;
    boolean died = true;
    for (int request = 1; died; request++) {
      empty();
      update();
      MortalConnection mortal = new MortalConnection(connect(), request, lastIsSent);
      try {
        run(mortal.connection(), liquibase -> liquibase.rollback(2, ""));
      } catch (LiquibaseException e) {
        assertTrue(mortal.isDead(), () -> "failed of " + ChangeLog.reasons(e));
      }
      int left = Integer.parseInt(ask("SELECT COUNT(*) FROM databasechangelog"));
      run(connect(), liquibase -> liquibase.rollback(left, ""));
      assertEquals("0", ask("SELECT n FROM counter"), "after death at " + mortal.last());
      died = mortal.isDead();
      deaths += died ? 1 : 0;
    }
    assertTrue(deaths > 10, "only " + deaths);
  }

  /** Even if the runner believed in its lock, the row of the fence would stop it. */
  @Test
  void staleTokenIsRefusedByTheRowOfTheFence() throws Exception {
    update();
    execute("UPDATE tollgate_fence SET token = token + 1000000");
    changes.changeSet("3", "UPDATE counter SET n = n + 100;");
    LiquibaseException stale = assertThrows(LiquibaseException.class, this::update);
    String why = ChangeLog.reasons(stale);
    assertTrue(why.contains("a later holder of lock '" + LOCK + "'"), why);
    assertUpdated("");
  }

  /** The run still holds its lock, as far as it can know. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void laterHolderIsNoticedInEachTransaction(boolean autoCommit) throws Exception {
    Database tollgate = Database.at(node.url(), Map.of(), getClass().getClassLoader());
    try (Connection real = connect();
        MigrationLock lock =
            MigrationLock.acquire(tollgate, LOCK, Duration.ofSeconds(15), Duration.ZERO)) {
      FenceRow row = FenceRow.of(real, lock);
      row.prepare(real);
      real.setAutoCommit(autoCommit);
      Connection fenced = new FencedConnection(real, lock, row).connection();
      try (Statement statement = fenced.createStatement();
          PreparedStatement prepared = fenced.prepareStatement("UPDATE counter SET n = n + ?")) {
        prepared.setInt(1, 1);
        prepared.executeUpdate();
        statement.execute("UPDATE counter SET n = n + 1");
        if (!autoCommit) {
          fenced.commit();
        }
        execute("UPDATE tollgate_fence SET token = token + 1");
        SQLException refused = assertThrows(SQLException.class, prepared::executeUpdate);
        assertEquals("23T01", refused.getSQLState());
        assertTrue(
            refused.getMessage().startsWith("the change was not made: a later holder of lock"),
            refused.getMessage());
      }
    }
    assertEquals("2", ask("SELECT n FROM counter"));
  }

  @Test
  void changeInJavaIsFencedToo() throws Exception {
    update();
    changes = ChangeLog.ofJava(folder, CountInJava.class);
    execute("UPDATE tollgate_fence SET token = token + 1000000");
    LiquibaseException stale = assertThrows(LiquibaseException.class, this::update);
    assertTrue(ChangeLog.reasons(stale).contains("a later holder of lock"), stale.getMessage());
    assertEquals("11", ask("SELECT n FROM counter"));
    execute("UPDATE tollgate_fence SET token = token - 1000000");
    update();
    assertEquals("1011", ask("SELECT n FROM counter"));
  }

  /** Between the change set and its row, and the changes of the change set go with it. */
  @Test
  void nothingCommitsAfterTheLockIsLost() throws Exception {
    update();
    changes.changeSet("3", "UPDATE counter SET n = n + 100;");
    Connection connection =
        new InterruptedConnection(
                connect(),
                "INSERT INTO public.databasechangelog",
                () -> node.execute("SELECT force_release_lock('" + LOCK + "')"))
            .connection();
    LiquibaseException lost =
        assertThrows(
            LiquibaseException.class, () -> run(connection, liquibase -> liquibase.update("")));
    String why = ChangeLog.reasons(lost);
    assertTrue(why.contains("the transaction was not committed"), why);
    assertTrue(why.contains("lock '" + LOCK + "' is no longer held"), why);
    assertUpdated("");
  }

  /** A statement outside a transaction is preceded by a check. */
  @Test
  void statementOutsideATransactionIsPrecededByACheck() throws Exception {
    update();
    changes.changeSet(
        "3 runInTransaction:false", "CREATE INDEX CONCURRENTLY entries ON entry(id);");
    update();
    assertEquals("1", ask("SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'entries'"));
    execute("UPDATE tollgate_fence SET token = token + 1000000");
    changes.changeSet(
        "4 runInTransaction:false", "CREATE INDEX CONCURRENTLY whats ON entry(what);");
    LiquibaseException stale = assertThrows(LiquibaseException.class, this::update);
    assertTrue(ChangeLog.reasons(stale).contains("a later holder of lock"), stale.getMessage());
    assertEquals("0", ask("SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'whats'"));
  }
}
