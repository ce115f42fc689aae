package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Work under a lock, on Tollgate itself and on a database that knows nothing of the lock. */
class FencedMigrationTest {
  private static final Duration TIME = Duration.ofSeconds(20);
  private static final String STEAL = "SELECT force_release_lock('shop')";

  private final String tollgate = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private Connection keeper;
  private FencedMigration migration;

  @BeforeEach
  void startNode() throws Exception {
    keeper = DriverManager.getConnection(tollgate);
    migration = FencedMigration.acquire(Database.at(tollgate), "shop", TIME, TIME);
  }

  @AfterEach
  void stopNode() throws SQLException {
    migration.close();
    keeper.close();
  }

  private Connection database(boolean isTollgate) throws SQLException {
    Connection connection =
        DriverManager.getConnection(isTollgate ? tollgate : "jdbc:h2:mem:" + UUID.randomUUID());
    new Queries(connection).execute("CREATE TABLE entry(id INT PRIMARY KEY)");
    return connection;
  }

  private static String entries(Connection database) throws SQLException {
    return new Queries(database).ask("SELECT COUNT(*) FROM entry");
  }

  private static Integer insert(Connection connection) throws SQLException {
    new Queries(connection).execute("INSERT INTO entry VALUES (1)");
    return 7;
  }

  private void steal() throws SQLException {
    new Queries(keeper).execute(STEAL);
  }

  private static MigrationException failure(MigrationException.Reason reason, Executable work) {
    MigrationException failure = assertThrows(MigrationException.class, work);
    assertEquals(reason, failure.reason(), failure.getMessage());
    return failure;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void workCommitsAndLeavesTheConnectionAsItWas(boolean isTollgate) throws Exception {
    try (Connection database = database(isTollgate)) {
      assertEquals(7, migration.inTransaction(database, FencedMigrationTest::insert));
      assertTrue(database.getAutoCommit());
      migration.close();
      new Queries(database).execute("INSERT INTO entry VALUES (2)");
      assertEquals("2", entries(database));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void failedWorkIsRolledBack(boolean isTollgate) throws Exception {
    try (Connection database = database(isTollgate)) {
      IllegalStateException why = new IllegalStateException("no");
      assertSame(
          why,
          assertThrows(
              IllegalStateException.class,
              () ->
                  migration.inTransaction(
                      database,
                      connection -> {
                        insert(connection);
                        throw why;
                      })));
      SQLException duplicate =
          assertThrows(
              SQLException.class,
              () ->
                  migration.inTransaction(
                      database,
                      connection -> {
                        insert(connection);
                        return insert(connection);
                      }));
      assertEquals("23505", duplicate.getSQLState());
      assertTrue(database.getAutoCommit());
      assertEquals("0", entries(database));
      migration.inTransaction(database, FencedMigrationTest::insert);
      assertEquals("1", entries(database));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void workThatLostItsLockIsRolledBack(boolean isTollgate) throws Exception {
    try (Connection database = database(isTollgate)) {
      failure(
          MigrationException.Reason.LOCK_LOST,
          () ->
              migration.inTransaction(
                  database,
                  connection -> {
                    insert(connection);
                    steal();
                    return 0;
                  }));
      assertEquals("0", entries(database));
      assertTrue(database.getAutoCommit());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nothingBeginsWithoutTheLock(boolean isTollgate) throws Exception {
    try (Connection database = database(isTollgate)) {
      steal();
      failure(
          MigrationException.Reason.LOCK_LOST,
          () -> migration.inTransaction(database, FencedMigrationTest::insert));
      failure(
          MigrationException.Reason.LOCK_LOST,
          () -> migration.outsideTransaction(database, "INSERT INTO entry VALUES (1)"));
      assertEquals("0", entries(database));
    }
  }

  /** Tollgate refuses the write itself, which fails before anything is asked. */
  @Test
  void writeToTollgateWithoutTheLockIsALostLock() throws Exception {
    try (Connection database = database(true)) {
      MigrationException lost =
          failure(
              MigrationException.Reason.LOCK_LOST,
              () ->
                  migration.inTransaction(
                      database,
                      connection -> {
                        steal();
                        return insert(connection);
                      }));
      SQLException refused = (SQLException) lost.getSuppressed()[0];
      assertTrue(refused.getSQLState().startsWith("23T0"), refused.getSQLState());
    }
  }

  /** Even if the cluster confirmed the lock, the row would stop a former holder. */
  @Test
  void laterHolderHasWritten() throws Exception {
    try (Connection database = database(false)) {
      migration.inTransaction(database, FencedMigrationTest::insert);
      new Queries(database).execute("UPDATE tollgate_fence SET token = token + 1");
      MigrationException stale =
          failure(
              MigrationException.Reason.LOCK_LOST,
              () -> migration.inTransaction(database, FencedMigrationTest::insert));
      assertTrue(stale.getMessage().contains("a later holder of lock 'shop'"));
      failure(
          MigrationException.Reason.LOCK_LOST,
          () -> migration.outsideTransaction(database, "DELETE FROM entry"));
      assertEquals("1", entries(database));
    }
  }

  /** The definition commits, and a later holder writes before the work has ended. */
  @Test
  void laterHolderHasWrittenAfterADefinition() throws Exception {
    try (Connection database = database(false)) {
      failure(
          MigrationException.Reason.LOCK_LOST,
          () ->
              migration.inTransaction(
                  database,
                  connection -> {
                    Queries queries = new Queries(connection);
                    queries.execute("CREATE TABLE more(id INT)");
                    queries.execute("UPDATE tollgate_fence SET token = token + 1");
                    queries.execute("ALTER TABLE more ADD COLUMN n INT");
                    return insert(connection);
                  }));
      assertEquals("0", entries(database));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void transactionOfTheCallerIsRefused(boolean isTollgate) throws Exception {
    try (Connection database = database(isTollgate)) {
      database.setAutoCommit(false);
      MigrationException refused =
          failure(
              MigrationException.Reason.INPUT,
              () -> migration.inTransaction(database, FencedMigrationTest::insert));
      assertTrue(refused.getMessage().contains("setAutoCommit(true)"), refused.getMessage());
    }
  }

  /** It could end the transaction, and write what nothing rolls back. */
  private interface Ending {
    void of(Connection connection) throws SQLException;
  }

  @Test
  void workDoesNotEndTheTransaction() throws Exception {
    try (Connection database = database(false)) {
      List<Ending> endings =
          List.of(
              Connection::commit,
              Connection::rollback,
              Connection::close,
              connection -> connection.setAutoCommit(true),
              connection -> connection.abort(Runnable::run));
      for (Ending ending : endings) {
        SQLException refused =
            assertThrows(
                SQLException.class,
                () ->
                    migration.inTransaction(
                        database,
                        connection -> {
                          insert(connection);
                          ending.of(connection);
                          return 0;
                        }));
        assertEquals("2D000", refused.getSQLState());
        assertEquals("0", entries(database));
      }
      migration.inTransaction(
          database,
          connection -> {
            Savepoint before = connection.setSavepoint();
            insert(connection);
            connection.rollback(before);
            return 0;
          });
      assertEquals("0", entries(database));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void statementRunsOutsideATransaction(boolean isTollgate) throws Exception {
    try (Connection database = database(isTollgate)) {
      migration.outsideTransaction(database, "INSERT INTO entry VALUES (1)");
      assertEquals("1", entries(database));
      SQLException duplicate =
          assertThrows(
              SQLException.class,
              () -> migration.outsideTransaction(database, "INSERT INTO entry VALUES (1)"));
      assertEquals("23505", duplicate.getSQLState());
    }
  }

  @Test
  void secondProgramWaitsOnlySoLong() {
    failure(
        MigrationException.Reason.LOCK_BUSY,
        () -> FencedMigration.acquire(Database.at(tollgate), "shop", TIME, Duration.ofMillis(100)));
  }
}
