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
        "CREATE TABLE t(i INT)                         | ''",
      })
  void onlyWhatIsInForceIsRestored(String done, String expected) throws Exception {
    EarlierSession session = new EarlierSession("V1");
    for (String sql : done.split(";", -1)) {
      session.did(new SqlStatement(1, sql.strip()));
    }
    session.restore(connection());
    assertEquals(expected, String.join(";", sent));
    session.restore(connection());
    assertEquals(expected, String.join(";", sent), "once");
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
            MigrationException.class, () -> new EarlierSession("V1").did(new SqlStatement(3, sql)));
    assertEquals(MigrationException.Reason.INPUT, refused.reason());
    assertTrue(refused.getMessage().startsWith("V1: line 3 was done by an earlier run"));
  }

  @Test
  void lockThatIsNotFreeEndsTheRun() throws Exception {
    token = null;
    EarlierSession tries = new EarlierSession("V1");
    tries.did(new SqlStatement(1, "SELECT try_acquire_lock('a')"));
    tries.restore(connection());
    EarlierSession session = new EarlierSession("V1");
    session.did(new SqlStatement(1, "SELECT acquire_lock('a')"));
    MigrationException busy =
        assertThrows(MigrationException.class, () -> session.restore(connection()));
    assertEquals(MigrationException.Reason.LOCK_BUSY, busy.reason());
  }
}
