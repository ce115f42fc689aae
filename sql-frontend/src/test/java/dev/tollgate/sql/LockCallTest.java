package dev.tollgate.sql;

import static dev.tollgate.sql.Refusal.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.sql.SqlRefused.Reason;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A call of a lock function is a plan of its own when it is the whole statement. */
class LockCallTest {

  private final SqlFrontend frontend = new SqlFrontend(0);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT acquire_lock('job')                       | ACQUIRE_LOCK text:job              | ACQUIRE_LOCK('job')
          select Acquire_Lock ( 'it''s' , 5 )              | ACQUIRE_LOCK text:it's 5           | ACQUIRE_LOCK('it''s', 5)
          SELECT acquire_lock('job', NULL, ?) AS tok       | ACQUIRE_LOCK text:job null ?0      | TOK
          SELECT acquire_lock('job') "My token"            | ACQUIRE_LOCK text:job              | My token
          SELECT (acquire_lock('job'))                     | ACQUIRE_LOCK text:job              | ACQUIRE_LOCK('job')
          (SELECT acquire_lock('job'))                     | ACQUIRE_LOCK text:job              | ACQUIRE_LOCK('job')
          SELECT "ACQUIRE_LOCK"('job')                     | ACQUIRE_LOCK text:job              | ACQUIRE_LOCK('job')
          VALUES acquire_lock(?)                           | ACQUIRE_LOCK ?0                    | C1
          VALUES (release_lock(?, ?))                      | RELEASE_LOCK ?0 ?1                 | C1
          CALL lock_token('job');                          | LOCK_TOKEN text:job                | LOCK_TOKEN('job')
          ? = CALL lock_token(?)                           | out LOCK_TOKEN ?1                  | LOCK_TOKEN(?2)
          SELECT holds_lock(N'job', 42)                    | HOLDS_LOCK text:job 42             | HOLDS_LOCK(N'job', 42)
          SELECT renew_lease(-5)                           | RENEW_LEASE -5                     | RENEW_LEASE(-5)
          SELECT revoke_lease(9223372036854775807)         | REVOKE_LEASE 9223372036854775807   | REVOKE_LEASE(9223372036854775807)
          SELECT revoke_lease(-9223372036854775808)        | REVOKE_LEASE -9223372036854775808  | REVOKE_LEASE(-9223372036854775808)
          SELECT force_release_lock('job')                 | FORCE_RELEASE_LOCK text:job        | FORCE_RELEASE_LOCK('job')
          SELECT try_acquire_lock('a', 7)                  | TRY_ACQUIRE_LOCK text:a 7          | TRY_ACQUIRE_LOCK('a', 7)
          SELECT acquire_shared_lock('a', 7, 0)            | ACQUIRE_SHARED_LOCK text:a 7 0     | ACQUIRE_SHARED_LOCK('a', 7, 0)
          SELECT try_acquire_shared_lock('a')              | TRY_ACQUIRE_SHARED_LOCK text:a     | TRY_ACQUIRE_SHARED_LOCK('a')
          ? = CALL TOLLGATE.TRY_ACQUIRE_LOCK(?)            | out TRY_ACQUIRE_LOCK ?1            | TRY_ACQUIRE_LOCK(?2)
          SELECT "TOLLGATE".acquire_lock('job', ?)         | ACQUIRE_LOCK text:job ?0           | ACQUIRE_LOCK('job', ?1)
          SELECT create_lease(15000, 'me')                 | CREATE_LEASE 15000 text:me         | CREATE_LEASE(15000, 'me')
          SELECT acquire_locks(ARRAY['b', 'a'])            | ACQUIRE_LOCKS [text:b text:a]      | ACQUIRE_LOCKS(ARRAY['b', 'a'])
          CALL acquire_locks(ARRAY[?, 'a'], ?, 5000)       | ACQUIRE_LOCKS [?0 text:a] ?1 5000  | ACQUIRE_LOCKS(ARRAY[?1, 'a'], ?2, 5000)
          ? = CALL acquire_locks(?)                        | out ACQUIRE_LOCKS ?1               | ACQUIRE_LOCKS(?2)
          VALUES acquire_locks(ARRAY[NULL], 0)             | ACQUIRE_LOCKS [null] 0             | C1
          SELECT acquire_locks(ARRAY[]) t                  | ACQUIRE_LOCKS []                   | T
          SELECT try_acquire_locks(ARRAY['a'], 7)          | TRY_ACQUIRE_LOCKS [text:a] 7       | TRY_ACQUIRE_LOCKS(ARRAY['a'], 7)
          SELECT acquire_transaction_lock('a')             | ACQUIRE_TRANSACTION_LOCK text:a    | ACQUIRE_TRANSACTION_LOCK('a')
          ? = CALL acquire_transaction_lock(?, ?)          | out ACQUIRE_TRANSACTION_LOCK ?1 ?2 | ACQUIRE_TRANSACTION_LOCK(?2, ?3)
          SELECT release_lock('a', NULL, 5000)             | RELEASE_LOCK text:a null 5000      | RELEASE_LOCK('a', NULL, 5000)
          CALL release_lock(?, ?, INTERVAL '1' HOUR)       | RELEASE_LOCK ?0 ?1 3600000 ms      | RELEASE_LOCK(?1, ?2, INTERVAL '1' HOUR)
          SELECT transfer_lock('a', 3, NULL)               | TRANSFER_LOCK text:a 3 null        | TRANSFER_LOCK('a', 3, NULL)
          ? = CALL transfer_lock(?, ?, ?)                  | out TRANSFER_LOCK ?1 ?2 ?3         | TRANSFER_LOCK(?2, ?3, ?4)
          """)
  void standAloneCallIsALockCall(String sql, String expected, String label) {
    Plan.LockCall call = assertInstanceOf(Plan.LockCall.class, frontend.plan(sql));
    String arguments =
        call.arguments().stream().map(LockCallTest::describe).collect(Collectors.joining(" "));
    String out = call.outParameter() ? "out " : "";
    assertEquals(expected, out + call.function() + " " + arguments);
    assertEquals(label, call.columnLabel());
    assertEquals(sql.chars().filter(c -> c == '?').count(), call.parameterCount());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          INTERVAL '5' SECOND                     | 5000
          INTERVAL '1.5' SECOND                   | 1500
          INTERVAL '0.0019' SECOND                | 1
          INTERVAL '300' SECOND                   | 300000
          INTERVAL '2' MINUTE                     | 120000
          INTERVAL '1:30' MINUTE TO SECOND        | 90000
          INTERVAL '1:30.25' MINUTE TO SECOND     | 90250
          INTERVAL '2:00:01' HOUR TO SECOND       | 7201000
          INTERVAL '3' HOUR                       | 10800000
          INTERVAL '1 12' DAY TO HOUR             | 129600000
          INTERVAL '1 0:0:0.5' DAY TO SECOND      | 86400500
          INTERVAL '7' DAY                        | 604800000
          INTERVAL '-2' SECOND                    | -2000
          INTERVAL -'2' SECOND                    | -2000
          INTERVAL -'-2' SECOND                   | 2000
          """)
  void intervalIsGivenInMilliseconds(String interval, long millis) {
    Plan.LockCall call = (Plan.LockCall) frontend.plan("SELECT create_lease(" + interval + ")");
    assertEquals(new Argument.Interval(millis), call.arguments().get(0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          INTERVAL '1' YEAR                       | NOT_ALLOWED | has no fixed length
          INTERVAL '1' MONTH                      | NOT_ALLOWED | has no fixed length
          INTERVAL '1-2' YEAR TO MONTH            | NOT_ALLOWED | has no fixed length
          INTERVAL '1' WEEK                       | NOT_ALLOWED | has no fixed length
          INTERVAL 'soon' SECOND                  | SYNTAX      | 'soon' is no interval
          INTERVAL '1:2' SECOND                   | SYNTAX      | '1:2' is no interval
          INTERVAL '1' MINUTE TO SECOND           | SYNTAX      | '1' is no interval
          INTERVAL '99999999999999999' DAY        | SYNTAX      | is no interval
          """)
  void intervalWithoutALengthIsRefused(String interval, Reason reason, String sentence) {
    assertRefused("SELECT create_lease(" + interval + ")", reason, 21, sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT acquire_lock('job-' || ?, ?)            → SELECT 'job-' || ?, ?
          SELECT acquire_lock(UPPER('a'), 1 + 1)         → SELECT UPPER('a'), 1 + 1
          SELECT acquire_lock('a' /* x */ 'b')           → SELECT 'a' 'b'
          SELECT create_lease(1.5)                       → SELECT 1.5
          SELECT create_lease(99999999999999999999)      → SELECT 99999999999999999999
          SELECT release_lock((SELECT name FROM t))      → SELECT (SELECT name FROM t)
          SELECT tollgate.release_lock(a || 'x')         → SELECT a || 'x'
          SELECT release_lock(USER)                      → SELECT USER
          SELECT acquire_locks(ARRAY['a', 'b' || ?], 7)  → SELECT ARRAY['a', 'b' || ?], 7
          SELECT acquire_locks(ARRAY(SELECT a FROM t))   → SELECT ARRAY(SELECT a FROM t)
          ? = CALL lock_token(CAST(? AS VARCHAR))        → SELECT CAST(? AS VARCHAR)
          SELECT holds_lock('a', lock_token('a'))        → SELECT 'a', TOLLGATE.LOCK_TOKEN('a')
          """)
  void argumentsThatAreExpressionsAreForH2(String sql, String argumentsSql) {
    Plan.LockCall call = assertInstanceOf(Plan.LockCall.class, frontend.plan(sql));
    assertEquals(argumentsSql, call.argumentsSql());
    assertTrue(call.arguments().isEmpty());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT acquire_lock('a') FROM t               | 8  | ACQUIRE_LOCK must be the whole statement
          SELECT acquire_lock('a'), 1                   | 8  | write SELECT acquire_lock(name[, lease[, wait]])
          SELECT DISTINCT acquire_lock('a')             | 17 | must be the whole statement
          SELECT TOP 1 acquire_lock('a')                | 14 | must be the whole statement
          SELECT acquire_lock('a') WHERE 1 = 1          | 8  | must be the whole statement
          SELECT acquire_lock('a') ORDER BY 1           | 8  | must be the whole statement
          SELECT acquire_lock('a') FETCH FIRST ROW ONLY | 8  | must be the whole statement
          SELECT acquire_lock('a') FOR UPDATE           | 8  | must be the whole statement
          SELECT acquire_lock('a') + 1                  | 8  | must be the whole statement
          VALUES (acquire_lock('a'), 1)                 | 9  | must be the whole statement
          VALUES acquire_lock('a'), acquire_lock('b')   | 8  | must be the whole statement
          CALL acquire_lock('a') IS NULL                | 6  | must be the whole statement
          SELECT 1 UNION SELECT acquire_lock('a')       | 23 | must be the whole statement
          SELECT (SELECT acquire_lock('a'))             | 16 | must be the whole statement
          SELECT acquire_shared_lock('a') FROM t        | 8  | ACQUIRE_SHARED_LOCK must be
          SELECT acquire_locks(ARRAY['a'])[1]           | 8  | write SELECT acquire_locks(names[, lease[, wait]])
          INSERT INTO t VALUES (acquire_transaction_lock('a')) | 23 | ACQUIRE_TRANSACTION_LOCK must be the whole statement
          SELECT acquire_transaction_lock('a', 1, 2)    | 8  | wrong number of arguments: acquire_transaction_lock(name[, wait])
          SELECT acquire_locks()                        | 8  | wrong number of arguments: acquire_locks(names[, lease[, wait]])
          SELECT try_acquire_locks(ARRAY['a'], 1, 2)    | 8  | wrong number of arguments: try_acquire_locks(names[, lease])
          SELECT release_lock('a', 1, 2, 3)             | 8  | wrong number of arguments: release_lock(name[, lease[, keep]])
          SELECT transfer_lock('a', 1)                  | 8  | wrong number of arguments: transfer_lock(name, from_lease, to_lease)
          SELECT acquire_locks(ARRAY['a', ''])          | 33 | 1 to 255 characters, this one has 0
          SELECT transfer_lock('', 1, 2)                | 22 | 1 to 255 characters, this one has 0
          CREATE VIEW v AS SELECT transfer_lock('a', 1, 2) x | 25 | not allowed in a definition
          UPDATE t SET a = renew_lease(1)               | 18 | RENEW_LEASE must be
          INSERT INTO t VALUES (acquire_lock('a'))      | 23 | must be the whole statement
          EXPLAIN SELECT acquire_lock('a')              | 16 | cannot be explained
          EXPLAIN UPDATE t SET a = release_lock('a')    | 26 | cannot be explained
          SELECT release_lock(create_lease(1))          | 21 | is not allowed as an argument
          SELECT release_lock(NEXT VALUE FOR s)         | 21 | not allowed here: it changes the sequence
          SELECT release_lock(SLEEP(1))                 | 21 | function SLEEP is not allowed
          CREATE TABLE t (a BIGINT DEFAULT lock_token('a')) | 34 | not allowed in a definition
          CREATE VIEW v AS SELECT holds_lock('a', 1)    | 25 | not allowed in a definition
          SELECT acquire_lock()                         | 8  | wrong number of arguments: acquire_lock(name[, lease[, wait]])
          SELECT acquire_lock('a', 1, 2, 3)             | 8  | wrong number of arguments
          SELECT acquire_lock(*)                        | 8  | wrong number of arguments
          SELECT holds_lock('a') FROM t                 | 8  | wrong number of arguments: holds_lock(name, token)
          SELECT lock_token(DISTINCT 'a')               | 8  | neither DISTINCT nor ALL
          CALL TOLLGATE.renew_lease(1) + 1              | 15 | RENEW_LEASE must be
          SELECT lock_token('')                         | 19 | 1 to 255 characters, this one has 0
          UPDATE t SET a = 1 WHERE holds_lock('', 1)    | 37 | 1 to 255 characters
          """)
  void callInTheWrongPlaceIsRefused(String sql, int column, String sentence) {
    Reason reason =
        sentence.equals("cannot be explained") ? Reason.NOT_SUPPORTED : Reason.NOT_ALLOWED;
    assertRefused(sql, reason, column, sentence);
  }

  @Test
  void lockNameHasALimit() {
    String longest = "x".repeat(SqlLimits.LOCK_NAME_LENGTH);
    assertNotNull(frontend.plan("SELECT lock_token('" + longest + "')"));
    assertRefused(
        "SELECT lock_token('" + longest + "x')", Reason.NOT_ALLOWED, 19, "this one has 256");
  }

  @Test
  void functionThatReadsLeavesAQueryARead() {
    assertEquals(
        new Plan.Read("SELECT a FROM t WHERE TOLLGATE.HOLDS_LOCK(b, ?)", 1, 1),
        frontend.plan("SELECT a FROM t WHERE holds_lock(b, ?)"));
    assertEquals(
        new Plan.Read("SELECT (TOLLGATE.LOCK_TOKEN('a')) , 1", 0, 0),
        frontend.plan("SELECT (lock_token('a')) , 1"));
    assertEquals(
        new Plan.Read("CALL TOLLGATE.LOCK_TOKEN('a') + 1", 0, 0),
        frontend.plan("CALL lock_token('a') + 1"));
    assertEquals(
        new Plan.Read("SELECT a FROM t WHERE tollgate.holds_lock(b, 1)", 0, 0),
        frontend.plan("SELECT a FROM t WHERE tollgate.holds_lock(b, 1)"));
  }

  @Test
  void functionThatChangesStateMakesAQueryAWrite() {
    Plan.Write write = (Plan.Write) frontend.plan("SELECT try_acquire_lock(b), a FROM t");
    assertEquals("SELECT TOLLGATE.TRY_ACQUIRE_LOCK(b), a FROM t", write.sql());
    assertEquals(WriteKind.DML, write.kind());
    assertTrue(write.returnsRows());
    Plan.Write qualified = (Plan.Write) frontend.plan("SELECT tollgate.create_lease(b), a FROM t");
    assertEquals("SELECT tollgate.create_lease(b), a FROM t", qualified.sql());
    Plan.Write call = (Plan.Write) frontend.plan("CALL release_lock('a') = ?");
    assertTrue(call.returnsRows());
    assertEquals("CALL TOLLGATE.RELEASE_LOCK('a') = ?", call.sql());
    assertEquals(
        "SELECT TOLLGATE.TRY_ACQUIRE_LOCKS(ARRAY[b, 'x'])[1], TOLLGATE.TRANSFER_LOCK(b, 1, NULL)"
            + " FROM t",
        ((Plan.Write)
                frontend.plan(
                    "SELECT try_acquire_locks(ARRAY[b, 'x'])[1], transfer_lock(b, 1, NULL) FROM t"))
            .sql());
  }

  @ParameterizedTest
  @EnumSource(LockFunction.class)
  void everyFunctionStatesItsArguments(LockFunction function) {
    long commas = function.signature().chars().filter(c -> c == ',').count();
    assertEquals(function.maxArguments(), commas + 1, function.signature());
    long optional = function.signature().chars().filter(c -> c == '[').count();
    assertEquals(function.minArguments(), function.maxArguments() - optional, function.signature());
    assertTrue(function.changesState() || !function.mustStandAlone(), function.name());
  }

  /** The labels are H2's, but for the schema, which the client did not write. */
  @Test
  void labelIsWhatH2WouldSay() throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE SCHEMA TOLLGATE");
      statement.execute(
          "CREATE ALIAS TOLLGATE.RELEASE_LOCK FOR 'java.lang.Math.floorMod(long,int)'");
      for (String call :
          new String[] {
            "SELECT release_lock(7,-5)", "CALL release_lock( 7, 5 )", "VALUES release_lock(7, 5)"
          }) {
        String qualified = call.replace("release_lock", "TOLLGATE.release_lock");
        try (ResultSet rows = statement.executeQuery(qualified)) {
          assertEquals(
              rows.getMetaData().getColumnLabel(1).replace("TOLLGATE.", ""),
              ((Plan.LockCall) frontend.plan(call)).columnLabel());
        }
      }
    }
  }

  private static String describe(Argument argument) {
    return argument.handledBy(
        new Argument.Handler<String>() {
          @Override
          public String integral(Argument.Integral integral) {
            return String.valueOf(integral.value());
          }

          @Override
          public String text(Argument.Text text) {
            return "text:" + text.value();
          }

          @Override
          public String interval(Argument.Interval interval) {
            return interval.millis() + " ms";
          }

          @Override
          public String flag(Argument.Flag flag) {
            return String.valueOf(flag.value());
          }

          @Override
          public String array(Argument.Array array) {
            return array.elements().stream()
                .map(LockCallTest::describe)
                .collect(Collectors.joining(" ", "[", "]"));
          }

          @Override
          public String nothing(Argument.Null nothing) {
            return "null";
          }

          @Override
          public String parameter(Argument.Parameter parameter) {
            return "?" + parameter.index();
          }
        });
  }
}
