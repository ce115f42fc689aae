package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the session of the next run gets before the statement at which the earlier run ended. */
class EarlierSessionTest {
  private final List<String> sent = new ArrayList<>();

  /** What an acquisition returns. */
  private @Nullable Object token = 7L;

  private Connection connection() {
    ResultSet row =
        proxy(ResultSet.class, (name, argument) -> name.equals("next") ? (Object) true : token);
    Statement statement =
        proxy(
            Statement.class,
            (name, argument) -> {
              if (name.equals("execute")) {
                sent.add(String.valueOf(argument));
                return !String.valueOf(argument).startsWith("SET");
              }
              return name.equals("getResultSet") ? row : null;
            });
    return proxy(Connection.class, (name, argument) -> statement);
  }

  private interface Answers {
    @Nullable Object to(String method, @Nullable Object argument);
  }

  private static <T> T proxy(Class<T> type, Answers answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                answers.to(method.getName(), arguments == null ? null : arguments[0])));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SET SCHEMA a;SET SCHEMA b                     | SET SCHEMA b",
        "SET SCHEMA a;SET LOCK_TIMEOUT 5;SET SCHEMA b  | SET LOCK_TIMEOUT 5;SET SCHEMA b",
        "SET LOCK_TIMEOUT=5;SET LOCK_TIMEOUT 6         | SET LOCK_TIMEOUT 6",
        "SET SESSION x = 1;SET x TO 2                  | SET x TO 2",
        "SET TIME ZONE 'UTC';SET TIME ZONE LOCAL       | SET TIME ZONE LOCAL",
        "SET FENCING TOKEN 1 FOR LOCK 'a';SET FENCING TOKEN 2 FOR LOCK 'b'"
            + " | SET FENCING TOKEN 1 FOR LOCK 'a';SET FENCING TOKEN 2 FOR LOCK 'b'",
        "SELECT acquire_lock('a');INSERT INTO t VALUES (1) | SELECT acquire_lock('a')",
        "SELECT acquire_lock('a');SELECT release_lock('a');SELECT acquire_lock('b')"
            + " | SELECT acquire_lock('b')",
        "CALL acquire_lock('a', NULL, 500);VALUES (release_lock('a')) | ''",
        "SELECT acquire_locks(ARRAY['a', 'b'])         | SELECT acquire_locks(ARRAY['a', 'b'])",
        "SET PASSWORD 'secret'                         | ''",
        "SET a = 1;SET b = 2;RESET a                   | SET b = 2",
        "SET a = 1;RESET ALL                           | ''",
        "SET TIME ZONE 'UTC';RESET timezone            | ''",
        "CREATE TABLE t(i INT)                         | ''",
      })
  void onlyWhatIsInForceIsRestored(String done, String expected) throws Exception {
    EarlierSession session = new EarlierSession("V1", "Do it");
    for (String sql : done.split(";", -1)) {
      session.did(new SqlStatement(1, sql.strip()));
    }
    session.restore(connection());
    assertEquals(expected, String.join(";", sent));
    session.restore(connection());
    assertEquals(expected, String.join(";", sent), "once");
  }

  /** Of each line: the dialect, the statements that are done, and what is sent for the rest. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "MARIADB | USE a;USE b                       | USE b",
        "MARIADB | SET a = 1, b = 2;SET a = 3        | SET a = 1, b = 2;SET a = 3",
        "MARIADB | SET @@session.a = 1;SET SESSION a = 2 | SET SESSION a = 2",
        "MARIADB | SET STATEMENT a = 1 FOR UPDATE t SET v = v + 1 | ^^",
        "MARIADB | SET GLOBAL a = 1                  | ^^",
        "MARIADB | /*!40101 SET NAMES utf8mb4 */     | /*!40101 SET NAMES utf8mb4 */",
        "MARIADB | GRANT ALL ON t TO u@localhost, 'v'@'h' | ^^",
        "POSTGRESQL | SET LOCAL a = 1                | ^^",
        "POSTGRESQL | SET search_path = a, b;RESET search_path | ^^",
        "POSTGRESQL | SET ROLE r;DISCARD ALL         | ^^",
        "POSTGRESQL | CREATE TEMP TABLE x(i INT);DROP TABLE x | ^^",
      })
  void closedListIsRestored(Dialect dialect, String done, String expected) throws Exception {
    EarlierSession session = after(dialect, done);
    for (String left : List.of("SELECT @@x FROM x", "EXECUTE x")) {
      session.check(SqlStatement.of(left, dialect));
    }
    session.restore(connection());
    assertEquals(expected, String.join(";", sent));
  }

  private static EarlierSession after(Dialect dialect, String done) throws MigrationException {
    EarlierSession session = new EarlierSession("V1", "Do it");
    for (String sql : done.split(";", -1)) {
      session.did(SqlStatement.of(sql.strip(), dialect));
    }
    return session;
  }

  /**
   * Of each line: the dialect, a statement that is done, one that may be left, and one that not.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "MARIADB | SET @a = 1                    | SELECT @a              | SELECT @@a",
        "MARIADB | SET a = 1, @b = 2             | SELECT @a              | SELECT 1",
        "MARIADB | SELECT COUNT(*) INTO @n FROM t| INSERT INTO t VALUES (@n) | SELECT n",
        "MARIADB | INSERT INTO t VALUES (1)      | SELECT LAST_INSERT_ID()| SELECT 1",
        "MARIADB | CREATE TEMPORARY TABLE IF NOT EXISTS x(i INT) | SELECT * FROM x | SELECT 1",
        "MARIADB | PREPARE p FROM 'SELECT 1'     | EXECUTE p              | SELECT 1",
        "MARIADB | CALL p()                      | SELECT 1               | ^^",
        "MARIADB | SET a = CONCAT(b, 'c')        | SELECT 1               | ^^",
        "MARIADB | SET a = @@b                   | SELECT 1               | ^^",
        "MARIADB | SELECT GET_LOCK('a', 1)       | SELECT 1               | ^^",
        "MARIADB | SET STATEMENT a = 1 FOR CALL p() | SELECT 1            | ^^",
        "POSTGRESQL | SELECT pg_catalog.set_config('a', 'b', false) | SELECT 1 | ^^",
        "POSTGRESQL | CREATE TEMP TABLE x(i INT) | TABLE \"X\"          | SELECT 1",
        "POSTGRESQL | SELECT 1 INTO TEMP x       | TABLE x                | SELECT 1",
        "POSTGRESQL | SELECT nextval('s')        | SELECT currval('s')    | SELECT 1",
        "POSTGRESQL | DO $$ SELECT 1 $$          | SELECT 1               | ^^",
        "POSTGRESQL | LISTEN x                   | SELECT 1               | ^^",
        "TOLLGATE | SET a = (SELECT 1)           | SELECT 1               | ^^",
      })
  void whatIsGoneWithTheSessionIsSaid(Dialect dialect, String done, String needs, String other)
      throws Exception {
    MigrationException gone =
        assertThrows(
            MigrationException.class,
            () -> after(dialect, done).check(SqlStatement.of(needs, dialect)));
    assertEquals(MigrationException.Reason.UNKNOWN_OUTCOME, gone.reason());
    assertTrue(gone.getMessage().startsWith("V1: line 1 was done by an earlier run"));
    if (!other.isEmpty()) {
      after(dialect, done).check(SqlStatement.of(other, dialect));
    }
  }

  /** The first statement that is left has an identifier of its own. */
  @Test
  void laterInsertHidesTheEarlierOne() throws Exception {
    EarlierSession session = after(Dialect.MARIADB, "INSERT INTO t VALUES (1)");
    session.check(SqlStatement.of("INSERT INTO t VALUES (2)", Dialect.MARIADB));
    session.check(SqlStatement.of("SELECT LAST_INSERT_ID()", Dialect.MARIADB));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT acquire_lock(name) FROM locks",
        "SELECT acquire_lock('a'), acquire_lock('b')",
        "INSERT INTO t SELECT acquire_lock('a')"
      })
  void acquisitionThatCannotBeRepeatedIsSaid(String sql) {
    MigrationException refused =
        assertThrows(
            MigrationException.class,
            () -> new EarlierSession("V1", "Do it").did(new SqlStatement(3, sql)));
    assertEquals(MigrationException.Reason.INPUT, refused.reason());
    assertTrue(refused.getMessage().startsWith("V1: line 3 was done by an earlier run"));
  }

  @Test
  void lockThatIsNotFreeEndsTheRun() throws Exception {
    token = null;
    EarlierSession tries = new EarlierSession("V1", "Do it");
    tries.did(new SqlStatement(1, "SELECT try_acquire_lock('a')"));
    tries.restore(connection());
    EarlierSession session = new EarlierSession("V1", "Do it");
    session.did(new SqlStatement(1, "SELECT acquire_lock('a')"));
    MigrationException busy =
        assertThrows(MigrationException.class, () -> session.restore(connection()));
    assertEquals(MigrationException.Reason.LOCK_BUSY, busy.reason());
  }
}
