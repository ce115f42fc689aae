package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Array;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * What every way to Tollgate promises about locks with several holders, several locks at once, and
 * locks that are kept or handed over.
 */
abstract class LockKindsContract extends ContractClients {
  @Test
  void asManyLeasesHoldALockAsItHasPermits() throws Exception {
    try (Connection one = connect();
        Connection two = connect();
        Connection three = connect("lockWait=1m")) {
      assertEquals(0, update(one, "CREATE LOCK 'pool' PERMITS 2"));
      long first = number(one, "SELECT acquire_lock('pool')");
      long second = number(two, "SELECT acquire_lock('pool')");
      assertTrue(second > first);
      assertEquals(true, value(three, "SELECT holds_lock('pool', " + first + ")"));
      assertNull(numberOrNull(three, "SELECT try_acquire_lock('pool')"));
      assertEquals("pool 2 2", definitions(three));
      CompletableFuture<Long> third = async(() -> number(three, "SELECT acquire_lock('pool')"));
      await().atMost(DEADLINE).until(() -> waiters(one) == 1);
      assertEquals(0, update(one, "ALTER LOCK 'pool' PERMITS 3"));
      assertTrue(third.get(30, TimeUnit.SECONDS) > second);
      assertEquals("pool 3 3", definitions(one));
      assertEquals("55T06", fails(one, "ALTER LOCK 'pool' PERMITS 2").getSQLState());
      assertEquals("55T06", fails(one, "DROP LOCK 'pool'").getSQLState());
    }
  }

  @Test
  void definitionOfALockIsMadeChangedAndDropped() throws SQLException {
    try (Connection connection = connect();
        PreparedStatement create =
            connection.prepareStatement("CREATE LOCK IF NOT EXISTS ? PERMITS ?")) {
      create.setString(1, "pool");
      create.setInt(2, 5);
      assertEquals(0, create.executeUpdate());
      create.setInt(2, 6);
      assertEquals(0, create.executeUpdate(), "it exists");
      assertEquals("pool 5 0", definitions(connection));
      assertRefused(connection, "CREATE LOCK 'pool' PERMITS 5", "55T06", "defined already");
      update(connection, "ALTER LOCK IF EXISTS 'nothing' PERMITS 5");
      assertRefused(connection, "ALTER LOCK 'nothing' PERMITS 5", "55T06", "no definition");
      update(connection, "DROP LOCK IF EXISTS 'nothing'");
      assertRefused(connection, "DROP LOCK 'nothing'", "55T06", "no definition");
      update(connection, "DROP LOCK 'pool'");
      assertEquals("", definitions(connection));
      create.setInt(2, 0);
      assertEquals("22023", assertThrows(SQLException.class, create::executeUpdate).getSQLState());
      create.setInt(2, 10_001);
      SQLException tooMany = assertThrows(SQLException.class, create::executeUpdate);
      assertEquals("22023", tooMany.getSQLState());
      assertTrue(tooMany.getMessage().contains("is 10001: a lock has 1 to 10000"));
      assertRefused(connection, "CREATE LOCK 'pool' PERMITS 0", "42T01", "1 to 10000 permits");
    }
  }

  @Test
  void definitionOfALockIsNoPartOfATransaction() throws SQLException {
    try (Connection connection = connect();
        Connection other = connect()) {
      update(connection, "CREATE TABLE t(v INT)");
      connection.setAutoCommit(false);
      update(connection, "INSERT INTO t VALUES (1)");
      update(connection, "CREATE LOCK 'pool' PERMITS 2");
      assertEquals("pool 2 0", definitions(other));
      assertEquals(0, number(other, "SELECT COUNT(*) FROM t"), "nothing was committed");
      connection.rollback();
      assertEquals("pool 2 0", definitions(connection));
      assertEquals(0, number(connection, "SELECT COUNT(*) FROM t"));
      connection.rollback();
    }
  }

  @Test
  void severalLocksAreTakenTogetherOrNotAtAll() throws Exception {
    try (Connection one = connect();
        Connection two = connect("lockWait=1m");
        Connection watcher = connect()) {
      Long[] tokens = longs(value(one, "SELECT acquire_locks(ARRAY['b', 'a'])"));
      assertEquals(number(one, "SELECT lock_token('b')"), tokens[0]);
      assertEquals(number(one, "SELECT lock_token('a')"), tokens[1]);
      assertNull(value(two, "SELECT try_acquire_locks(ARRAY['c', 'a'])"));
      assertNull(numberOrNull(watcher, "SELECT lock_token('c')"));
      assertNull(value(two, "SELECT acquire_locks(ARRAY['c', 'a'], 0, 50)"));
      CompletableFuture<Object> waiting =
          async(() -> value(two, "SELECT acquire_locks(ARRAY['c', 'b', 'a'])"));
      await().atMost(DEADLINE).until(() -> waiters(watcher) == 3);
      value(one, "SELECT release_lock('a')");
      assertFalse(waiting.isDone());
      assertEquals(true, value(one, "SELECT release_lock('b')"));
      Long[] granted = longs(waiting.get(30, TimeUnit.SECONDS));
      assertEquals(3, granted.length);
      assertEquals(number(watcher, "SELECT lock_token('a')"), granted[2]);
    }
  }

  @Test
  void namesOfSeveralLocksMayBeOneParameter() throws SQLException {
    try (Connection connection = connect();
        PreparedStatement select = connection.prepareStatement("SELECT acquire_locks(?) AS T")) {
      ResultSetMetaData columns = select.getMetaData();
      assertEquals(Types.ARRAY, columns.getColumnType(1));
      assertEquals("BIGINT ARRAY", columns.getColumnTypeName(1));
      select.setObject(1, new String[] {"x", "y"});
      Long[] tokens = longs(only(select));
      select.setArray(1, connection.createArrayOf("VARCHAR", new Object[] {"y", "x"}));
      assertArrayEquals(new Long[] {tokens[1], tokens[0]}, longs(only(select)));
      try (CallableStatement call = connection.prepareCall("{? = call acquire_locks(?, ?)}")) {
        call.registerOutParameter(1, Types.ARRAY);
        call.setObject(2, new String[] {"x"});
        call.setInt(3, 0);
        call.execute();
        assertArrayEquals(new Long[] {tokens[0]}, longs(call.getArray(1)));
      }
      assertEquals(tokens[0], number(connection, "SELECT try_acquire_locks(ARRAY['x'])[1]"));
      assertArrayEquals(
          new Long[] {tokens[0]}, longs(value(connection, "VALUES acquire_locks(ARRAY['x'])")));
      assertArrayEquals(
          new Long[] {tokens[1], tokens[0]},
          longs(value(connection, "CALL acquire_locks(ARRAY[LOWER('Y'), 'x'])")));
    }
  }

  /** SQL, the SQLState, and what the message contains. */
  private static final String WRONG_ARGUMENTS =
      """
      SELECT acquire_locks(ARRAY[])                   | 22023 | has 0 lock names: a call names 1 to 100 locks
      SELECT acquire_locks(ARRAY['a', 'b', 'a'])      | 22023 | lock 'a' stands in the array twice
      SELECT acquire_locks(ARRAY['a', NULL])          | 22023 | lock name 2 of the array is NULL
      SELECT acquire_locks(NULL)                      | 22023 | the array of lock names is NULL
      SELECT acquire_locks('a')                       | 22023 | an array of character strings is expected
      SELECT acquire_locks(ARRAY[1])                  | 22023 | lock name is of type BIGINT: a character string is expected
      SELECT acquire_locks(ARRAY['a'], NULL)          | 22023 | lease is NULL
      SELECT acquire_locks(ARRAY['a'], 77)            | 55T01 | lease 77 was never created
      SELECT acquire_locks(ARRAY['a'], 0, -1)         | 22023 | a request waits from 0 ms to one hour
      SELECT acquire_locks(ARRAY['a', ''])            | 42T01 | 1 to 255 characters
      SELECT try_acquire_locks(ARRAY['a', 'a'])[1]    | 22023 | lock 'a' stands in the array twice
      SELECT release_lock('a', NULL, -1)              | 22023 | keep is -1 ms: a released lock is kept from 0 ms to 24 hours
      SELECT release_lock('a', 0, INTERVAL '25' HOUR) | 22023 | keep is 90000000 ms
      SELECT release_lock('a', 0, NULL)               | 22023 | keep is NULL
      SELECT release_lock('a', NULL)                  | 22023 | lease is NULL
      SELECT COALESCE(release_lock('a', 0, -1), TRUE) | 22023 | keep is -1 ms
      SELECT transfer_lock('a', 77, NULL)             | 55T01 | lease 77 was never created
      SELECT transfer_lock(NULL, 0, 0)                | 22023 | lock name is NULL
      """;

  @Test
  void wrongArgumentIsRefused() throws SQLException {
    try (Connection connection = connect()) {
      for (String line : WRONG_ARGUMENTS.lines().toList()) {
        String[] row = line.trim().split(" +\\| ", 3);
        assertRefused(connection, row[0], row[1], row[2]);
      }
    }
  }

  @Test
  void moreThanAHundredLocksAreNotTakenTogether() throws SQLException {
    try (Connection connection = connect();
        PreparedStatement select = connection.prepareStatement("SELECT acquire_locks(?)")) {
      select.setObject(1, names(101));
      SQLException tooMany = assertThrows(SQLException.class, select::executeQuery);
      assertEquals("22023", tooMany.getSQLState());
      assertTrue(tooMany.getMessage().contains("has 101 lock names: a call names 1 to 100"));
      select.setObject(1, names(100));
      Set<Long> tokens = new HashSet<>(Arrays.asList(longs(only(select))));
      assertEquals(100, tokens.size());
    }
  }

  @Test
  void keptLockIsNotGrantedBeforeItsTime() throws Exception {
    try (Connection one = connect();
        Connection two = connect("lockWait=1m")) {
      assertEquals(false, value(one, "SELECT release_lock('job', NULL, 60000)"));
      long token = number(one, "SELECT acquire_lock('job')");
      assertEquals(true, value(one, "SELECT release_lock('job', NULL, INTERVAL '1' HOUR)"));
      assertNull(numberOrNull(two, "SELECT try_acquire_lock('job')"));
      assertNull(numberOrNull(one, "SELECT try_acquire_lock('job')"), "nor by who released it");
      assertEquals(false, value(one, "SELECT holds_lock('job', " + token + ")"));
      assertEquals(true, value(two, "SELECT KEPT FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'job'"));
      assertEquals(true, value(two, "SELECT force_release_lock('job')"));
      assertTrue(number(two, "SELECT try_acquire_lock('job')") > token);
      assertEquals(false, value(two, "SELECT KEPT FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'job'"));
      assertEquals(true, value(two, "SELECT COALESCE(release_lock('job', 0, 300), FALSE)"));
      assertTrue(number(two, "SELECT acquire_lock('job')") > token);
    }
  }

  @Test
  void lockIsHandedOverUnderANewToken() throws SQLException {
    try (Connection one = connect();
        Connection two = connect()) {
      long lease = number(one, "SELECT create_lease(60000)");
      assertNull(numberOrNull(one, "SELECT transfer_lock('job', NULL, " + lease + ")"));
      long token = number(one, "SELECT acquire_lock('job')");
      long next = number(one, "SELECT transfer_lock('job', NULL, " + lease + ")");
      assertTrue(next > token);
      assertEquals(false, value(two, "SELECT holds_lock('job', " + token + ")"));
      assertEquals(true, value(two, "SELECT holds_lock('job', " + next + ")"));
      assertNull(numberOrNull(one, "SELECT transfer_lock('job', 0, " + lease + ")"));
      try (CallableStatement call = two.prepareCall("{? = call transfer_lock(?, ?, ?)}")) {
        call.registerOutParameter(1, Types.BIGINT);
        call.setString(2, "job");
        call.setLong(3, lease);
        call.setNull(4, Types.BIGINT);
        call.execute();
        assertTrue(call.getLong(1) > next);
      }
      assertRefused(two, "SELECT transfer_lock('job', 0, 0)", "55T06", "holds lock 'job' already");
      assertTrue(
          number(two, "SELECT COALESCE(transfer_lock('job', NULL, " + lease + "), 0)") > next + 1);
    }
  }

  @Test
  void functionsAreInTheMetadata() throws SQLException {
    try (Connection connection = connect();
        ResultSet functions = connection.getMetaData().getProcedures(null, "TOLLGATE", "%LOCK%")) {
      Set<String> names = new HashSet<>();
      while (functions.next()) {
        names.add(functions.getString("PROCEDURE_NAME"));
      }
      assertTrue(
          names.containsAll(Set.of("RELEASE_LOCK", "TRANSFER_LOCK", "TRY_ACQUIRE_LOCKS")),
          names.toString());
    }
  }

  private static String[] names(int count) {
    return IntStream.range(0, count).mapToObj(i -> "lock-" + i).toArray(String[]::new);
  }

  private static Long[] longs(Object array) throws SQLException {
    return Arrays.stream((Object[]) ((Array) array).getArray()).toArray(Long[]::new);
  }

  private static String definitions(Connection connection) throws SQLException {
    return (String)
        value(
            connection,
            "SELECT COALESCE(LISTAGG(LOCK_NAME || ' ' || PERMITS || ' ' || HOLDERS, ', ')"
                + " WITHIN GROUP (ORDER BY LOCK_NAME), '') FROM TOLLGATE.LOCK_DEFINITIONS");
  }
}
