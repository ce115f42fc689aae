package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLNonTransientException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What every way to Tollgate promises, through JDBC alone: in memory, embedded, over TCP, with and
 * without a pool. Every test has a database of its own.
 */
@Timeout(120)
abstract class JdbcContract extends SeriesContract {
  @Test
  void lockIsHeldUntilItIsReleasedAndTheNextTokenIsHigher() throws SQLException {
    try (Connection first = connect();
        Connection second = connect()) {
      long token = number(first, "SELECT acquire_lock('job')");
      assertEquals(token, number(first, "SELECT acquire_lock('job')"), "the same lease again");
      assertNull(numberOrNull(second, "SELECT try_acquire_lock('job')"));
      assertEquals(token, number(second, "SELECT lock_token('job')"));
      assertEquals(true, value(second, "SELECT holds_lock('job', " + token + ")"));
      assertEquals(false, value(second, "SELECT release_lock('job')"), "it is not the holder");
      assertEquals(true, value(first, "SELECT release_lock('job')"));
      assertNull(numberOrNull(second, "SELECT lock_token('job')"));
      assertEquals(false, value(second, "SELECT holds_lock('job', " + token + ")"));
      assertTrue(number(second, "SELECT try_acquire_lock('job')") > token);
    }
  }

  @Test
  void lockFunctionsFitInExpressionsOfTheirTypes() throws SQLException {
    try (Connection connection = connect()) {
      assertEquals(0, number(connection, "SELECT COALESCE(lock_token('job'), 0)"));
      long token = number(connection, "SELECT acquire_lock('job')");
      assertEquals(token, number(connection, "SELECT COALESCE(lock_token('job'), 0)"));
      assertEquals(1, number(connection, "SELECT lock_token('job') - " + (token - 1)));
      assertEquals(token + 1, number(connection, "SELECT COALESCE(try_acquire_lock('other'), 0)"));
      assertEquals(
          true,
          value(connection, "SELECT NOT COALESCE(holds_lock('job', " + (token + 1) + "), TRUE)"));
      assertEquals(
          false, value(connection, "SELECT COALESCE(release_lock('job'), FALSE) AND FALSE"));
    }
  }

  @Test
  void waitersAreServedInTheOrderInWhichTheyAsked() throws Exception {
    try (Connection holder = connect();
        Connection early = connect("lockWait=1m");
        Connection late = connect("lockWait=1m");
        Connection watcher = connect()) {
      long token = number(holder, "SELECT acquire_lock('job')");
      CompletableFuture<Long> first = acquire(early, "job");
      await().atMost(DEADLINE).until(() -> waiters(watcher) == 1);
      CompletableFuture<Long> second = acquire(late, "job");
      await().atMost(DEADLINE).until(() -> waiters(watcher) == 2);
      assertEquals(true, value(holder, "SELECT release_lock('job')"));
      assertEquals(token + 1, first.get(30, TimeUnit.SECONDS));
      assertFalse(second.isDone());
      assertEquals(true, value(early, "SELECT release_lock('job')"));
      assertEquals(token + 2, second.get(30, TimeUnit.SECONDS));
    }
  }

  @Test
  void waitThatRunsOutGivesNullAndLeavesTheQueue() throws SQLException {
    try (Connection holder = connect();
        Connection waiter = connect("lockWait=100")) {
      number(holder, "SELECT acquire_lock('job')");
      assertNull(numberOrNull(waiter, "SELECT acquire_lock('job')"));
      long lease = number(waiter, "SELECT create_lease(60000)");
      try (PreparedStatement statement = waiter.prepareStatement("SELECT acquire_lock(?, ?, ?)")) {
        statement.setString(1, "job");
        statement.setLong(2, lease);
        statement.setLong(3, 50);
        assertNull(only(statement));
      }
      assertEquals(0, waiters(holder));
    }
  }

  @Test
  void cancelledWaitEndsAndIsNeverGranted() throws Exception {
    try (Connection holder = connect();
        Connection waiter = connect("lockWait=1h");
        Statement waiting = waiter.createStatement()) {
      number(holder, "SELECT acquire_lock('job')");
      CompletableFuture<SQLException> ended =
          async(
              () ->
                  assertThrows(
                      SQLException.class, () -> waiting.execute("SELECT acquire_lock('job')")));
      await().atMost(DEADLINE).until(() -> waiters(holder) == 1);
      waiting.cancel();
      assertEquals("57014", ended.get(30, TimeUnit.SECONDS).getSQLState());
      assertEquals(0, waiters(holder));
      assertEquals(1, number(waiter, "SELECT 1"), "the connection goes on");
    }
  }

  @Test
  void readersShareALockAndAWriterWaitsForThem() throws SQLException {
    try (Connection one = connect();
        Connection two = connect();
        Connection writer = connect()) {
      number(one, "SELECT acquire_shared_lock('data')");
      number(two, "SELECT try_acquire_shared_lock('data')");
      assertNull(numberOrNull(writer, "SELECT try_acquire_lock('data')"));
      value(one, "SELECT release_lock('data')");
      assertNull(numberOrNull(writer, "SELECT try_acquire_lock('data')"));
      value(two, "SELECT release_lock('data')");
      number(writer, "SELECT try_acquire_lock('data')");
      assertNull(numberOrNull(one, "SELECT try_acquire_shared_lock('data')"));
    }
  }

  @Test
  void explicitLeaseOutlivesItsConnectionAndEndsWhenItIsRevoked() throws SQLException {
    long lease;
    long token;
    try (Connection connection = connect()) {
      lease = number(connection, "SELECT create_lease(INTERVAL '1' MINUTE, 'nightly run')");
      token = number(connection, "SELECT acquire_lock('job', " + lease + ")");
    }
    try (Connection connection = connect()) {
      assertEquals(token, number(connection, "SELECT lock_token('job')"));
      assertEquals(
          "nightly run",
          value(connection, "SELECT OWNER FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'job'"));
      assertTrue(number(connection, "SELECT renew_lease(" + lease + ")") > 50_000);
      assertEquals(true, value(connection, "SELECT revoke_lease(" + lease + ")"));
      assertNull(numberOrNull(connection, "SELECT lock_token('job')"));
      SQLException gone = fails(connection, "SELECT acquire_lock('job', " + lease + ")");
      assertEquals("55T01", gone.getSQLState());
      assertInstanceOf(SQLNonTransientException.class, gone);
    }
  }

  @Test
  void leaseThatIsNotRenewedEndsAndItsLockPassesOn() throws SQLException {
    try (Connection connection = connect();
        Connection next = connect("lockWait=30s")) {
      long lease = number(connection, "SELECT create_lease(300)");
      long token = number(connection, "SELECT acquire_lock('job', " + lease + ")");
      assertEquals(token + 1, number(next, "SELECT acquire_lock('job')"));
      assertEquals("55T01", fails(connection, "SELECT renew_lease(" + lease + ")").getSQLState());
    }
  }

  @Test
  void endOfAConnectionReleasesWhatItsOwnLeaseHolds() throws SQLException {
    Connection ending = connect();
    long token = number(ending, "SELECT acquire_lock('job')");
    end(ending);
    try (Connection connection = connect()) {
      assertTrue(number(connection, "SELECT try_acquire_lock('job')") > token);
    }
  }

  @Test
  void staleTokenIsRefusedByTheStatementAndChangesNothing() throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE T(V INT)");
      update(connection, "INSERT INTO T VALUES(1)");
      long old = number(connection, "SELECT acquire_lock('job')");
      value(connection, "SELECT release_lock('job')");
      long current = number(connection, "SELECT acquire_lock('job')");
      SQLException refused =
          fails(connection, "UPDATE T SET V = 2 FENCED BY LOCK 'job' TOKEN " + old);
      assertEquals("23T01", refused.getSQLState());
      assertInstanceOf(SQLIntegrityConstraintViolationException.class, refused);
      assertEquals(1, number(connection, "SELECT V FROM T"));
      assertEquals(
          1, update(connection, "UPDATE T SET V = 3 FENCED BY LOCK 'job' TOKEN " + current));
      assertEquals(
          0, update(connection, "UPDATE T SET V = 4 WHERE holds_lock('job', " + old + ")"));
      assertEquals(3, number(connection, "SELECT V FROM T"));
    }
  }

  @Test
  void fencedTableTakesWritesOfTheHolderOnly() throws SQLException {
    try (Connection holder = connect();
        Connection other = connect()) {
      update(holder, "CREATE TABLE T(V INT) FENCED BY LOCK 'job'");
      SQLException refused = fails(other, "INSERT INTO T VALUES(1)");
      assertEquals("23T02", refused.getSQLState());
      assertInstanceOf(SQLIntegrityConstraintViolationException.class, refused);
      long token = number(holder, "SELECT acquire_lock('job')");
      assertEquals(1, update(holder, "INSERT INTO T VALUES(1)"), "by its own lease");
      assertEquals("23T02", fails(other, "DELETE FROM T").getSQLState());
      update(other, "SET FENCING TOKEN " + token + " FOR LOCK 'job'");
      assertEquals(1, update(other, "UPDATE T SET V = 2"), "by the token it presents");
      value(holder, "SELECT release_lock('job')");
      assertEquals("23T02", fails(holder, "UPDATE T SET V = 3").getSQLState());
      assertEquals("23T01", fails(other, "UPDATE T SET V = 3").getSQLState());
      assertEquals(2, number(other, "SELECT V FROM T"));
    }
  }

  @Test
  void fencedSessionWritesUnderItsTokenAlone() throws SQLException {
    try (Connection runner = connect();
        Connection other = connect()) {
      long token = number(other, "SELECT acquire_lock('migrate')");
      fence(runner, "migrate", token);
      update(runner, "CREATE TABLE T(ID INT PRIMARY KEY, V INT)");
      assertEquals(1, update(runner, "INSERT INTO T VALUES(1, 1)"));
      value(other, "SELECT release_lock('migrate')");
      long next = number(other, "SELECT acquire_lock('migrate')");

      SQLException refused = fails(runner, "ALTER TABLE T ADD COLUMN W INT");
      assertEquals("23T01", refused.getSQLState());
      assertInstanceOf(SQLIntegrityConstraintViolationException.class, refused);
      String message = refused.getMessage();
      assertTrue(message.contains("token " + token + " of lock 'migrate' is stale"), message);
      assertTrue(message.contains("held under token " + next), message);
      assertTrue(message.contains("fences all writes of this session"), message);
      assertTrue(message.contains("SET NOT FENCED"), message);
      for (String sql :
          List.of(
              "INSERT INTO T VALUES(2, 2)",
              "SELECT * FROM FINAL TABLE (INSERT INTO T VALUES(2, 2))",
              "TRUNCATE TABLE T",
              "DROP TABLE T",
              "CREATE TABLE IF NOT EXISTS T(ID INT)",
              "ALTER TABLE T FENCED BY LOCK 'migrate'",
              "UPDATE T SET V = 2 FENCED BY LOCK 'migrate' TOKEN " + next)) {
        assertEquals("23T01", fails(runner, sql).getSQLState(), sql);
      }
      assertEquals(1, number(runner, "SELECT COUNT(*) FROM T"), "queries are not fenced");
      assertEquals(
          2,
          number(other, "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'T'"));

      fence(runner, "migrate", next);
      update(runner, "ALTER TABLE T ADD COLUMN W INT");
      update(runner, "SET NOT FENCED");
      value(other, "SELECT release_lock('migrate')");
      assertEquals(1, update(runner, "DELETE FROM T"));
    }
  }

  @Test
  void fencedSessionWritesBatchesAndTransactionsUnderItsTokenAlone() throws SQLException {
    try (Connection runner = connect();
        Connection other = connect()) {
      update(runner, "CREATE TABLE T(V INT)");
      fence(runner, "migrate", number(other, "SELECT acquire_lock('migrate')"));
      try (PreparedStatement insert = runner.prepareStatement("INSERT INTO T VALUES(?)");
          Statement statements = runner.createStatement()) {
        insert.setInt(1, 1);
        insert.addBatch();
        insert.setInt(1, 2);
        insert.addBatch();
        assertEquals(2, insert.executeBatch().length);
        runner.setAutoCommit(false);
        insert.executeUpdate();
        value(other, "SELECT force_release_lock('migrate')");
        assertEquals(
            "23T01", assertThrows(SQLException.class, runner::commit).getSQLState(), "lost");
        runner.setAutoCommit(true);
        insert.addBatch();
        assertEquals("23T01", assertThrows(SQLException.class, insert::executeBatch).getSQLState());
        statements.addBatch("CREATE TABLE U(V INT)");
        assertEquals(
            "23T01", assertThrows(SQLException.class, statements::executeBatch).getSQLState());
      }
      update(runner, "SET NOT FENCED");
      assertEquals(2, number(runner, "SELECT COUNT(*) FROM T"));
      update(runner, "CREATE TABLE U(V INT)");
    }
  }

  private static void fence(Connection connection, String lock, long token) throws SQLException {
    try (PreparedStatement set = connection.prepareStatement("SET FENCED BY LOCK ? TOKEN ?")) {
      set.setString(1, lock);
      set.setLong(2, token);
      set.execute();
    }
  }

  @Test
  void rowsWithLocksOfTheirOwnTakeWritesOfTheirHoldersOnly() throws SQLException {
    try (Connection first = connect();
        Connection second = connect()) {
      update(
          first,
          "CREATE TABLE ORDERS(ID INT PRIMARY KEY, STATE VARCHAR(10))"
              + " FENCED BY LOCK ('order-' || LPAD(ID, 3, '0'))");
      number(first, "SELECT acquire_lock('order-007')");
      long token = number(second, "SELECT acquire_lock('order-008')");
      assertEquals(1, update(first, "INSERT INTO ORDERS VALUES(7, 'new')"));
      SQLException refused = fails(first, "INSERT INTO ORDERS VALUES(8, 'new')");
      assertEquals("23T02", refused.getSQLState());
      assertInstanceOf(SQLIntegrityConstraintViolationException.class, refused);
      assertTrue(refused.getMessage().contains("'order-008'"), refused.getMessage());
      String paid = "UPDATE ORDERS SET STATE = 'paid' WHERE ID = ? FENCED BY LOCK ? TOKEN ?";
      assertEquals(1, update(second, "INSERT INTO ORDERS VALUES(8, 'new')"));
      try (PreparedStatement statement = first.prepareStatement(paid)) {
        statement.setInt(1, 8);
        statement.setString(2, "order-008");
        statement.setLong(3, token);
        assertEquals(1, statement.executeUpdate(), "under the token that the clause presents");
        value(second, "SELECT release_lock('order-008')");
        SQLException stale = assertThrows(SQLException.class, statement::executeUpdate);
        assertEquals("23T01", stale.getSQLState());
      }
      assertEquals("23T02", fails(second, "TRUNCATE TABLE ORDERS").getSQLState());
      first.setAutoCommit(false);
      assertEquals(1, update(first, "DELETE FROM ORDERS WHERE ID = 7"));
      value(second, "SELECT force_release_lock('order-007')");
      assertEquals(
          "23T01", assertThrows(SQLException.class, first::commit).getSQLState(), "lost meanwhile");
      first.setAutoCommit(true);
      assertEquals(2, number(first, "SELECT COUNT(*) FROM ORDERS"));
      assertEquals(
          "'order-' || TOLLGATE.LPAD(ID, 3, '0')",
          value(first, "SELECT ROW_LOCK FROM TOLLGATE.FENCES WHERE LOCK_NAME IS NULL"));
      update(second, "ALTER TABLE ORDERS NOT FENCED");
      assertEquals(2, update(second, "DELETE FROM ORDERS"));
    }
  }

  @Test
  void schemaThatIsThereCanBeMadeAgainWithoutAToken() throws SQLException {
    try (Connection connection = connect()) {
      for (int start = 1; start <= 2; start++) {
        update(connection, "CREATE TABLE IF NOT EXISTS T(V INT) FENCED BY LOCK 'job'");
        if (start == 1) {
          number(connection, "SELECT acquire_lock('job')");
        }
        update(connection, "CREATE INDEX IF NOT EXISTS T_V ON T(V)");
        value(connection, "SELECT release_lock('job')");
      }
      assertEquals("23T02", fails(connection, "INSERT INTO T VALUES(1)").getSQLState());
    }
  }

  @Test
  void monotonicFenceTakesAnyTokenThatIsNotLowerThanTheHighest() throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE T(V INT) FENCED MONOTONIC BY LOCK 'job'");
      long first = number(connection, "SELECT acquire_lock('job')");
      value(connection, "SELECT release_lock('job')");
      long second = number(connection, "SELECT acquire_lock('job')");
      value(connection, "SELECT release_lock('job')");
      String insert = "INSERT INTO T VALUES(1) FENCED MONOTONIC BY LOCK 'job' TOKEN ";
      assertEquals(1, update(connection, insert + first));
      assertEquals(1, update(connection, insert + second), "nobody holds it, and it is the newest");
      assertEquals("23T01", fails(connection, insert + first).getSQLState());
      assertEquals(2, number(connection, "SELECT COUNT(*) FROM T"));
    }
  }

  @Test
  void generatedKeysAndPinnedDefaultsComeBack() throws SQLException {
    try (Connection connection = connect()) {
      update(
          connection,
          "CREATE TABLE T(ID BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, V VARCHAR(10),"
              + " AT TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP,"
              + " U UUID DEFAULT RANDOM_UUID())");
      List<Long> ids = new ArrayList<>();
      List<Object> uuids = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        try (PreparedStatement insert =
            connection.prepareStatement("INSERT INTO T(V) VALUES(?)", new String[] {"ID", "U"})) {
          insert.setString(1, "v" + i);
          assertEquals(1, insert.executeUpdate());
          try (ResultSet keys = insert.getGeneratedKeys()) {
            assertTrue(keys.next());
            ids.add(keys.getLong(1));
            uuids.add(keys.getObject(2));
            assertFalse(keys.next());
          }
        }
      }
      assertEquals(List.of(1L, 2L), ids);
      assertNotEquals(uuids.get(0), uuids.get(1));
      assertEquals(2, number(connection, "SELECT COUNT(*) FROM T WHERE AT IS NOT NULL"));
    }
  }

  @Test
  void eachTimeThatRunsOutHasAStateOfItsOwn() throws SQLException {
    try (Connection holder = connect();
        Connection waiter = connect("lockTimeout=1m");
        Statement update = waiter.createStatement()) {
      update(holder, "CREATE TABLE T(ID INT PRIMARY KEY, V INT)");
      update(holder, "INSERT INTO T VALUES(1, 1)");
      holder.setAutoCommit(false);
      update(holder, "UPDATE T SET V = 2");
      update.setQueryTimeout(1);
      String sql = "UPDATE T SET V = 3";
      SQLTimeoutException query =
          assertThrows(SQLTimeoutException.class, () -> update.executeUpdate(sql));
      assertEquals("57014", query.getSQLState());
      assertEquals(57_014, query.getErrorCode());
      update.setQueryTimeout(0);
      assertEquals(60_000, number(waiter, "SELECT LOCK_TIMEOUT()"));
      update.execute("SET LOCK_TIMEOUT 100");
      assertEquals(100, number(waiter, "SELECT LOCK_TIMEOUT()"));
      assertEquals(2_000, number(holder, "SELECT LOCK_TIMEOUT()"), "in its transaction");
      SQLTimeoutException row =
          assertThrows(SQLTimeoutException.class, () -> update.executeUpdate(sql));
      assertEquals("HYT00", row.getSQLState());
      assertEquals(50_200, row.getErrorCode());
      holder.rollback();
    }
  }

  @Test
  void whatIsWrongWithAStatementIsSaidWhenItIsPrepared() throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR(10))");
      assertEquals("42T01", unprepared(connection, "SELECT * FROM T WHERE"));
      assertEquals("42S02", unprepared(connection, "SELECT * FROM MISSING WHERE ID = ?"));
      assertEquals("42S22", unprepared(connection, "UPDATE T SET MISSING = ? WHERE ID = ?"));
      assertEquals("21S02", unprepared(connection, "INSERT INTO T VALUES(?)"));
      assertEquals("42T01", unprepared(connection, "CREATE ALIAS F AS 'int f() { return 1; }'"));
      try (PreparedStatement insert = connection.prepareStatement("INSERT INTO T VALUES(?, ?)")) {
        insert.setInt(1, 1);
        SQLException unset = assertThrows(SQLException.class, insert::executeUpdate);
        assertEquals(90_012, unset.getErrorCode());
        insert.setString(2, "one");
        assertEquals(1, insert.executeUpdate());
      }
    }
  }

  private static String unprepared(Connection connection, String sql) {
    return assertThrows(SQLException.class, () -> connection.prepareStatement(sql), sql)
        .getSQLState();
  }

  @Test
  void preparingChangesNothing() throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
      update(connection, "CREATE SEQUENCE S");
      update(connection, "CREATE SCHEMA ASIDE");
      for (String sql :
          List.of(
              "SELECT NEXT VALUE FOR S",
              "CALL NEXT VALUE FOR S",
              "CREATE TABLE U AS SELECT NEXT VALUE FOR S AS V",
              "CREATE VIEW W AS SELECT * FROM T",
              "SELECT * FROM FINAL TABLE (INSERT INTO T VALUES(1))",
              "INSERT INTO T VALUES(2)",
              "ALTER TABLE T ADD COLUMN V INT",
              "TRUNCATE TABLE T RESTART IDENTITY",
              "DROP TABLE T",
              "SET SCHEMA ASIDE",
              "SELECT acquire_lock('job')",
              "SELECT create_lease(60000)",
              "CALL take_snapshot()",
              "SELECT * FROM T FOR UPDATE")) {
        connection.prepareStatement(sql).close();
      }
      assertEquals(0, number(connection, "SELECT COUNT(*) FROM T"));
      assertEquals(1, number(connection, "SELECT NEXT VALUE FOR S"));
      assertNull(numberOrNull(connection, "SELECT lock_token('job')"));
      assertEquals(
          1,
          number(
              connection,
              "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'"));
    }
  }

  @Test
  void preparingStaysOutOfTheTransaction() throws SQLException {
    try (Connection connection = connect();
        Connection other = connect()) {
      update(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
      connection.setAutoCommit(false);
      connection.prepareStatement("INSERT INTO T VALUES(1)").close();
      assertEquals(0, number(other, "SELECT COUNT(*) FROM TOLLGATE.TRANSACTIONS"));
      assertEquals(1, update(connection, "INSERT INTO T VALUES(1)"));
      assertEquals("23505", fails(connection, "INSERT INTO T VALUES(1)").getSQLState());
      assertEquals("42S02", unprepared(connection, "SELECT * FROM MISSING"));
      try (PreparedStatement second = connection.prepareStatement("INSERT INTO T VALUES(2)")) {
        assertEquals(1, second.executeUpdate());
      }
      connection.commit();
      assertEquals(2, number(other, "SELECT COUNT(*) FROM T"));
    }
  }

  @Test
  void batchIsOneStatementPerSetAndTellsWhichOneFailed() throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE T(ID INT PRIMARY KEY, V NUMERIC(10, 2))");
      try (PreparedStatement insert = connection.prepareStatement("INSERT INTO T VALUES(?, ?)")) {
        for (int id : new int[] {1, 2, 1, 3}) {
          insert.setInt(1, id);
          insert.setBigDecimal(2, new BigDecimal("1.50"));
          insert.addBatch();
        }
        java.sql.BatchUpdateException failed =
            assertThrows(java.sql.BatchUpdateException.class, insert::executeBatch);
        assertEquals("23505", failed.getSQLState());
        assertEquals(
            List.of(1, 1, Statement.EXECUTE_FAILED, 1),
            java.util.Arrays.stream(failed.getUpdateCounts()).boxed().toList());
      }
      assertEquals(3, number(connection, "SELECT COUNT(*) FROM T"));
      assertEquals(new BigDecimal("4.50"), value(connection, "SELECT SUM(V) FROM T"));
    }
  }

  @Test
  void callGivesTheTokenAsOutParameter() throws SQLException {
    try (Connection connection = connect();
        CallableStatement call = connection.prepareCall("{? = call acquire_lock(?)}")) {
      call.registerOutParameter(1, Types.BIGINT);
      call.setString(2, "job");
      call.execute();
      assertEquals(call.getLong(1), number(connection, "SELECT lock_token('job')"));
    }
  }

  @Test
  void resultInPagesIsWhole() throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.setFetchSize(7);
      long sum = 0;
      try (ResultSet rows = statement.executeQuery("SELECT X FROM SYSTEM_RANGE(1, 1000)")) {
        while (rows.next()) {
          sum += rows.getLong(1);
        }
      }
      assertEquals(500_500, sum);
    }
  }

  @Test
  void metadataShowsTablesAndFences() throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE T(V INT) FENCED BY LOCK 'job'");
      DatabaseMetaData metadata = connection.getMetaData();
      try (ResultSet tables =
          metadata.getTables(null, "PUBLIC", "%", new String[] {"BASE TABLE"})) {
        assertTrue(tables.next());
        assertEquals("T", tables.getString("TABLE_NAME"));
        assertFalse(tables.next());
      }
      assertEquals(
          "job", value(connection, "SELECT LOCK_NAME FROM TOLLGATE.FENCES WHERE TABLE_NAME = 'T'"));
    }
  }

  @Test
  void viewsNameWhoHoldsWhatFromWhere() throws SQLException {
    try (Connection connection = connect()) {
      long token = number(connection, "SELECT acquire_lock('job')");
      try (Statement statement = connection.createStatement();
          ResultSet row =
              statement.executeQuery(
                  "SELECT L.TOKEN, L.LOCK_MODE, L.HELD_SINCE, S.APPLICATION, L.CLIENT_HOST"
                      + " FROM TOLLGATE.LOCKS L JOIN TOLLGATE.LEASES E ON E.LEASE_ID = L.LEASE_ID"
                      + " JOIN TOLLGATE.SESSIONS S ON S.SESSION_ID = E.SESSION_ID"
                      + " WHERE L.LOCK_NAME = 'job'")) {
        assertTrue(row.next());
        assertEquals(token, row.getLong(1));
        assertEquals("EXCLUSIVE", row.getString(2));
        assertTrue(row.getTimestamp(3).getTime() > 1_600_000_000_000L, row.getString(3));
        assertEquals("contract", row.getString(4));
        assertNotEquals("", row.getString(5));
      }
    }
  }

  @Test
  void transactionIsSeenByOthersWhenItCommits() throws SQLException {
    try (Connection one = connect();
        Connection two = connect()) {
      update(one, "CREATE TABLE T(ID INT PRIMARY KEY, V INT)");
      one.setAutoCommit(false);
      update(one, "INSERT INTO T VALUES(1, 1)");
      update(one, "UPDATE T SET V = 2");
      assertEquals(2, number(one, "SELECT V FROM T"), "it sees its own changes");
      assertEquals(0, number(two, "SELECT COUNT(*) FROM T"));
      one.commit();
      assertEquals(2, number(two, "SELECT V FROM T"));
      update(one, "DELETE FROM T");
      one.rollback();
      assertEquals(1, number(one, "SELECT COUNT(*) FROM T"));
      update(one, "UPDATE T SET V = 3");
      one.setAutoCommit(true);
      assertEquals(3, number(two, "SELECT V FROM T"), "JDBC: switching autocommit on commits");
    }
  }

  @Test
  void savepointsNest() throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE T(V INT)");
      connection.setAutoCommit(false);
      update(connection, "INSERT INTO T VALUES(1)");
      Savepoint outer = connection.setSavepoint();
      update(connection, "INSERT INTO T VALUES(2)");
      Savepoint inner = connection.setSavepoint("Inner point");
      update(connection, "INSERT INTO T VALUES(3)");
      connection.rollback(inner);
      assertEquals(3, number(connection, "SELECT SUM(V) FROM T"));
      connection.rollback(outer);
      update(connection, "INSERT INTO T VALUES(10)");
      connection.releaseSavepoint(outer);
      connection.commit();
      assertEquals(11, number(connection, "SELECT SUM(V) FROM T"));
    }
  }

  @Test
  void waitForARowEndsWithTheTransactionThatHasIt() throws Exception {
    try (Connection one = connect();
        Connection two = connect("lockTimeout=1m")) {
      update(one, "CREATE TABLE T(ID INT PRIMARY KEY, V INT)");
      update(one, "INSERT INTO T VALUES(1, 0)");
      one.setAutoCommit(false);
      update(one, "UPDATE T SET V = 1");
      CompletableFuture<Long> waiting = async(() -> update(two, "UPDATE T SET V = V + 10"));
      awaitStatementThatWaits(one);
      one.commit();
      assertEquals(1L, waiting.get(30, TimeUnit.SECONDS));
      assertEquals(11, number(two, "SELECT V FROM T"));
      one.rollback();
    }
  }

  @Test
  void lockTimeoutFailsTheStatementAndKeepsTheTransaction() throws SQLException {
    try (Connection one = connect();
        Connection two = connect()) {
      update(one, "CREATE TABLE T(ID INT PRIMARY KEY, V INT)");
      update(one, "INSERT INTO T VALUES(1, 0), (2, 0)");
      one.setAutoCommit(false);
      two.setAutoCommit(false);
      update(one, "UPDATE T SET V = 1 WHERE ID = 1");
      update(two, "SET LOCK_TIMEOUT 200");
      update(two, "UPDATE T SET V = 2 WHERE ID = 2");
      SQLException late = fails(two, "UPDATE T SET V = 2 WHERE ID = 1");
      assertEquals("HYT00", late.getSQLState());
      assertInstanceOf(SQLTimeoutException.class, late);
      two.commit();
      one.rollback();
      assertEquals(2, number(one, "SELECT SUM(V) FROM T"));
      one.commit();
    }
  }

  @Test
  void deadlockRollsOneBackAndTheOtherGoesOn() throws Exception {
    try (Connection one = connect();
        Connection two = connect()) {
      update(one, "CREATE TABLE T(ID INT PRIMARY KEY, V INT)");
      update(one, "INSERT INTO T VALUES(1, 0), (2, 0)");
      one.setAutoCommit(false);
      two.setAutoCommit(false);
      update(one, "UPDATE T SET V = 1 WHERE ID = 1");
      update(two, "UPDATE T SET V = 2 WHERE ID = 2");
      CompletableFuture<SQLException> victim =
          async(() -> fails(two, "UPDATE T SET V = 2 WHERE ID = 1"));
      awaitStatementThatWaits(one);
      assertEquals(1, update(one, "UPDATE T SET V = 1 WHERE ID = 2"));
      SQLException lost = victim.get(30, TimeUnit.SECONDS);
      assertEquals("40001", lost.getSQLState());
      assertInstanceOf(SQLTransactionRollbackException.class, lost);
      one.commit();
      two.rollback();
      assertEquals(2, number(two, "SELECT SUM(V) FROM T"));
    }
  }

  @Test
  void fencesAreCheckedAgainAtCommit() throws SQLException {
    try (Connection writer = connect();
        Connection other = connect()) {
      update(writer, "CREATE TABLE T(V INT) FENCED BY LOCK 'job'");
      number(writer, "SELECT acquire_lock('job')");
      writer.setAutoCommit(false);
      update(writer, "INSERT INTO T VALUES(1)");
      value(other, "SELECT force_release_lock('job')");
      SQLException refused = assertThrows(SQLException.class, writer::commit);
      assertEquals("23T01", refused.getSQLState());
      assertEquals(0, number(writer, "SELECT COUNT(*) FROM T"));
      writer.setAutoCommit(true);
    }
  }

  @Test
  void serializableTransactionIsAlone() throws SQLException {
    try (Connection connection = connect();
        Connection other = connect()) {
      update(connection, "CREATE TABLE T(V INT)");
      assertEquals(Connection.TRANSACTION_READ_COMMITTED, connection.getTransactionIsolation());
      connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      assertEquals(Connection.TRANSACTION_SERIALIZABLE, connection.getTransactionIsolation());
      connection.setAutoCommit(false);
      assertEquals(0, number(connection, "SELECT COUNT(*) FROM T"));
      update(other, "SET LOCK_TIMEOUT 100");
      assertEquals("HYT00", fails(other, "INSERT INTO T VALUES(1)").getSQLState());
      assertEquals(0, number(connection, "SELECT COUNT(*) FROM T"));
      connection.commit();
      assertEquals(1, update(other, "INSERT INTO T VALUES(1)"));
      connection.setAutoCommit(true);
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    }
  }

  @Test
  void schemaBelongsToTheSession() throws SQLException {
    try (Connection one = connect();
        Connection two = connect()) {
      update(one, "CREATE SCHEMA S");
      one.setSchema("S");
      update(one, "CREATE TABLE T(V INT)");
      assertEquals("S", one.getSchema());
      assertEquals("PUBLIC", two.getSchema());
      assertEquals("42S02", fails(two, "SELECT * FROM T").getSQLState());
      assertEquals(0, number(two, "SELECT COUNT(*) FROM S.T"));
    }
  }

  private static CompletableFuture<Long> acquire(Connection connection, String lock) {
    return async(() -> number(connection, "SELECT acquire_lock('" + lock + "')"));
  }

  /** Returns once a statement waits for the row of one transaction. */
  private static void awaitStatementThatWaits(Connection witness) {
    String blocked = "SELECT COUNT(*) FROM TOLLGATE.TRANSACTIONS WHERE STATEMENTS_WAITING > 0";
    await().atMost(DEADLINE).until(() -> number(witness, blocked) == 1);
  }
}
