package dev.tollgate.sql;

import static dev.tollgate.sql.Refusal.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.sql.SqlRefused.Reason;
import dev.tollgate.sql.TableFence.Reading;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** FENCED BY LOCK is Tollgate's own: it becomes a part of the plan, and H2 does not see it. */
class FencingTest {

  private static final Argument JOB = new Argument.Text("job");

  private final SqlFrontend frontend = new SqlFrontend(0);

  /** The parentheses that a bare subquery gets end before the clause. */
  @Test
  void fenceIsNoPartOfASubqueryWithoutParentheses() {
    Plan.Write plan =
        (Plan.Write)
            frontend.plan(
                "DELETE FROM t WHERE a = SELECT b FROM u WHERE c=SELECT 1 FENCED BY LOCK 'job'"
                    + " TOKEN 42");
    assertEquals("DELETE FROM t WHERE a =(SELECT b FROM u WHERE c =( SELECT 1 ) )", plan.sql());
    assertEquals(new StatementFence(JOB, new Argument.Integral(42), false), plan.fence());
    Plan.Write table =
        (Plan.Write)
            frontend.plan("CREATE TABLE t (a INT, b INT AS SELECT 1) FENCED BY LOCK ('x' || a)");
    assertEquals("CREATE TABLE t (a INT, b INT AS(SELECT 1 ))", table.sql());
    assertNotNull(table.tableFence());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          INSERT INTO t (a) VALUES (?)            | 1
          INSERT INTO t SELECT a FROM s           | 0
          INSERT INTO t DEFAULT VALUES            | 0
          UPDATE t SET a = ? WHERE b = ?          | 2
          DELETE FROM t                           | 0
          DELETE FROM t x WHERE a = ?             | 1
          MERGE INTO t (a) KEY (a) VALUES (?)     | 1
          MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE | 0
          CREATE TABLE t (a INT)                  | 0
          CREATE TABLE t AS SELECT a FROM s       | 0
          CREATE INDEX i ON t (a)                 | 0
          CREATE VIEW v AS SELECT a FROM t        | 0
          ALTER TABLE t ADD COLUMN b INT          | 0
          ALTER TABLE t RENAME TO u               | 0
          DROP TABLE t CASCADE                    | 0
          DROP SCHEMA s                           | 0
          TRUNCATE TABLE t                        | 0
          COMMENT ON TABLE t IS 'x'               | 0
          """)
  void fenceIsCutFromTheEndOfAnyWrite(String statement, int parameters) {
    Plan.Write literal = (Plan.Write) frontend.plan(statement + " FENCED BY LOCK 'job' TOKEN 42");
    assertEquals(statement, literal.sql());
    assertEquals(new StatementFence(JOB, new Argument.Integral(42), false), literal.fence());
    assertEquals(parameters, literal.parameterCount());
    assertEquals(parameters, literal.sqlParameterCount());
    assertNull(literal.tableFence());

    Plan.Write bound = (Plan.Write) frontend.plan(statement + "\nfenced by lock ? token ? ;");
    assertEquals(statement, bound.sql());
    assertEquals(
        new StatementFence(
            new Argument.Parameter(parameters), new Argument.Parameter(parameters + 1), false),
        bound.fence());
    assertEquals(parameters + 2, bound.parameterCount());
    assertEquals(parameters, bound.sqlParameterCount());
  }

  @Test
  void statementMayLeaveTheComparisonToItsTables() {
    Plan.Write write =
        (Plan.Write) frontend.plan("DELETE FROM t FENCED MONOTONIC BY LOCK 'job' TOKEN 42");
    assertEquals("DELETE FROM t", write.sql());
    assertEquals(new StatementFence(JOB, new Argument.Integral(42), true), write.fence());
    assertNull(write.tableFence());
  }

  @Test
  void createTableMayBindItsTable() {
    Plan.Write held = (Plan.Write) frontend.plan("CREATE TABLE t (a INT) FENCED BY LOCK 'job'");
    assertEquals("CREATE TABLE t (a INT)", held.sql());
    assertEquals(new TableFence.OneLock("job", Reading.HELD), held.tableFence());
    assertNull(held.fence());

    Plan.Write monotonic =
        (Plan.Write) frontend.plan("CREATE TABLE t AS SELECT ? a FENCED MONOTONIC BY LOCK 'job'");
    assertEquals("CREATE TABLE t AS SELECT ? a", monotonic.sql());
    assertEquals(new TableFence.OneLock("job", Reading.MONOTONIC), monotonic.tableFence());
  }

  @Test
  void createTableMayBindItsTableAndBeFencedItself() {
    Plan.Write write =
        (Plan.Write)
            frontend.plan("CREATE TABLE t (a INT) FENCED BY LOCK 'b' FENCED BY LOCK 'job' TOKEN ?");
    assertEquals("CREATE TABLE t (a INT)", write.sql());
    assertEquals(new TableFence.OneLock("b", Reading.HELD), write.tableFence());
    assertEquals(new StatementFence(JOB, new Argument.Parameter(0), false), write.fence());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '`',
      textBlock =
          """
          ('order-' || order_id)                      → 'order-' || order_id
          ( 'order-'||/* x */"id" )                   → 'order-' || "id"
          (order_id)                                  → order_id
          (CAST(a AS VARCHAR) || LPAD(b, 8, '0'))     → CAST(a AS VARCHAR) || TOLLGATE.LPAD(b, 8, '0')
          (CASE WHEN a > 1 THEN 'a' ELSE UPPER(b) END) → CASE WHEN a > 1 THEN 'a' ELSE UPPER(b) END
          (a || '-' || EXTRACT(YEAR FROM d))          → a || '-' || EXTRACT(YEAR FROM d)
          (('a' || b))                                → ('a' || b)
          """)
  void tableMayHaveALockForEachRow(String expression, String expressionSql) {
    TableFence fence = new TableFence.LockPerRow(expressionSql);
    Plan.Write create =
        (Plan.Write) frontend.plan("CREATE TABLE t (a INT) FENCED BY LOCK " + expression);
    assertEquals("CREATE TABLE t (a INT)", create.sql());
    assertEquals(fence, create.tableFence());
    assertEquals(
        new Plan.FenceTable(new ObjectName(null, "T"), fence),
        frontend.plan("ALTER TABLE t FENCED BY LOCK " + expression));
    Plan.Write fenced =
        (Plan.Write)
            frontend.plan(
                "CREATE TABLE t AS SELECT ? a FENCED BY LOCK "
                    + expression
                    + " FENCED BY LOCK 'job' TOKEN ?");
    assertEquals(fence, fenced.tableFence());
    assertEquals(new StatementFence(JOB, new Argument.Parameter(1), false), fenced.fence());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '`',
      textBlock =
          """
          UPDATE t SET a = 1 FENCED BY LOCK ('order-' || id) TOKEN 1 → NOT_ALLOWED → 35 → a lock for each row is for CREATE and ALTER TABLE
          ALTER TABLE t FENCED MONOTONIC BY LOCK (a || b) → NOT_SUPPORTED → 40 → keep the highest token of every name for ever
          ALTER TABLE t FENCED BY LOCK (?) → NOT_ALLOWED → 31 → must be written out
          ALTER TABLE t FENCED BY LOCK ('a' || ?) → NOT_ALLOWED → 38 → has no parameters
          ALTER TABLE t FENCED BY LOCK ('a' || 'b') → NOT_ALLOWED → 30 → must depend on a column
          ALTER TABLE t FENCED BY LOCK (1) → NOT_ALLOWED → 30 → must depend on a column
          ALTER TABLE t FENCED BY LOCK ('') → NOT_ALLOWED → 31 → 1 to 255 characters
          ALTER TABLE t FENCED BY LOCK (a) TOKEN 1 → NOT_ALLOWED → 40 → without TOKEN
          ALTER TABLE t FENCED BY LOCK (t.a) → NOT_ALLOWED → 31 → names columns without their table: write A
          ALTER TABLE t FENCED BY LOCK (a || NOW()) → NOT_ALLOWED → 36 → cannot use NOW, which gives it another name each time
          ALTER TABLE t FENCED BY LOCK (a || CURRENT_DATE) → NOT_ALLOWED → 36 → cannot use CURRENT_DATE
          ALTER TABLE t FENCED BY LOCK (a || RAND()) → NOT_ALLOWED → 36 → cannot use RAND
          ALTER TABLE t FENCED BY LOCK (a || USER) → NOT_ALLOWED → 36 → cannot use USER, which depends on the session that writes the row
          ALTER TABLE t FENCED BY LOCK (a || SCHEMA()) → NOT_ALLOWED → 36 → cannot use SCHEMA
          ALTER TABLE t FENCED BY LOCK (a || SLEEP(1)) → NOT_ALLOWED → 36 → it would stall every replica
          ALTER TABLE t FENCED BY LOCK (a || FOO(1)) → NOT_ALLOWED → 36 → Tollgate does not know it
          ALTER TABLE t FENCED BY LOCK (REGEXP_REPLACE(a, 'b', 'c')) → NOT_ALLOWED → 31 → a regular expression
          ALTER TABLE t FENCED BY LOCK (a || MAX(b)) → NOT_ALLOWED → 36 → cannot use MAX, which depends on other rows
          ALTER TABLE t FENCED BY LOCK (a || COUNT(*)) → NOT_ALLOWED → 36 → cannot use COUNT
          ALTER TABLE t FENCED BY LOCK (a || LISTAGG(b) WITHIN GROUP (ORDER BY b)) → NOT_ALLOWED → 36 → cannot use LISTAGG
          ALTER TABLE t FENCED BY LOCK (a || ROW_NUMBER() OVER (ORDER BY b)) → NOT_ALLOWED → 36 → cannot use ROW_NUMBER
          ALTER TABLE t FENCED BY LOCK (a || (SELECT b FROM s)) → NOT_ALLOWED → 36 → has no subquery
          ALTER TABLE t FENCED BY LOCK (a || (VALUES 1)) → NOT_ALLOWED → 36 → has no subquery
          ALTER TABLE t FENCED BY LOCK (CASE WHEN EXISTS (TABLE s) THEN a END) → NOT_ALLOWED → 48 → has no subquery
          ALTER TABLE t FENCED BY LOCK (a || NEXT VALUE FOR s) → NOT_ALLOWED → 36 → another name each time
          ALTER TABLE t FENCED BY LOCK (a || lock_token('x')) → NOT_ALLOWED → 36 → not allowed in a definition
          ALTER TABLE t FENCED BY LOCK (a || try_acquire_lock('x')) → NOT_ALLOWED → 36 → not allowed in a definition
          ALTER TABLE t FENCED BY LOCK (a || _ROWID_) → NOT_ALLOWED → 36 → a row has another one
          ALTER TABLE t FENCED BY LOCK (CAST(a AS JAVA_OBJECT)) → NOT_ALLOWED → 41 → Java objects
          ALTER TABLE t FENCED BY LOCK (a, b) → SYNTAX → 32 → unexpected ","
          CREATE TABLE t (a INT) FENCED BY LOCK ('a' || 'b') → NOT_ALLOWED → 39 → must depend on a column
          """)
  void lockOfARowDependsOnItsColumnsAlone(String sql, Reason reason, int column, String sentence) {
    assertRefused(sql, reason, column, sentence);
  }

  /** A string in parentheses is a string. */
  @Test
  void constantInParenthesesIsOneLock() {
    assertEquals(
        new Plan.FenceTable(new ObjectName(null, "T"), new TableFence.OneLock("job", Reading.HELD)),
        frontend.plan("ALTER TABLE t FENCED BY LOCK ('job')"));
    assertEquals(
        new Plan.FenceTable(
            new ObjectName(null, "T"), new TableFence.OneLock("job", Reading.MONOTONIC)),
        frontend.plan("ALTER TABLE t FENCED MONOTONIC BY LOCK (('job'))"));
    assertEquals(
        new StatementFence(JOB, new Argument.Integral(1), false),
        ((Plan.Write) frontend.plan("DELETE FROM t FENCED BY LOCK ('job') TOKEN 1")).fence());
    assertEquals(
        new Plan.PresentToken(JOB, new Argument.Integral(1), 0),
        frontend.plan("SET FENCING TOKEN 1 FOR LOCK ('job')"));
  }

  @Test
  void alterTableBindsAndUnbinds() {
    assertEquals(
        new Plan.FenceTable(new ObjectName("S", "t"), new TableFence.OneLock("job", Reading.HELD)),
        frontend.plan("ALTER TABLE s.\"t\" FENCED BY LOCK 'job'"));
    assertEquals(
        new Plan.FenceTable(
            new ObjectName(null, "T"), new TableFence.OneLock("job", Reading.MONOTONIC)),
        frontend.plan("ALTER TABLE t FENCED MONOTONIC BY LOCK 'job'"));
    assertEquals(
        new Plan.UnfenceTable(new ObjectName(null, "T")),
        frontend.plan("ALTER TABLE t NOT FENCED"));
  }

  @Test
  void sessionPresentsATokenWithSet() {
    assertEquals(
        new Plan.PresentToken(JOB, new Argument.Integral(42), 0),
        frontend.plan("SET FENCING TOKEN 42 FOR LOCK 'job'"));
    assertEquals(
        new Plan.PresentToken(new Argument.Parameter(1), new Argument.Parameter(0), 2),
        frontend.plan("set fencing token ? for lock ?"));
    assertEquals(
        new Plan.PresentToken(JOB, new Argument.Null(), 0),
        frontend.plan("SET FENCING TOKEN NULL FOR LOCK 'job'"));
  }

  @Test
  void sessionIsFencedWithSet() {
    assertEquals(
        new Plan.FenceSession(new StatementFence(JOB, new Argument.Integral(42), false), 0),
        frontend.plan("SET FENCED BY LOCK 'job' TOKEN 42"));
    assertEquals(
        new Plan.FenceSession(
            new StatementFence(new Argument.Parameter(0), new Argument.Parameter(1), false), 2),
        frontend.plan("set fenced by lock ? token ? ;"));
    assertEquals(
        new Plan.FenceSession(new StatementFence(JOB, new Argument.Parameter(0), false), 1),
        frontend.plan("SET FENCED BY LOCK ('job') TOKEN ?"));
    assertEquals(new Plan.FenceSession(null, 0), frontend.plan("SET NOT FENCED"));
  }

  /** A fence changes nothing about how H2 would run the statement. */
  @Test
  void explanationLeavesTheFenceOut() {
    assertEquals(
        new Plan.Read("EXPLAIN UPDATE t SET a = ?", 3, 1),
        frontend.plan("EXPLAIN UPDATE t SET a = ? FENCED BY LOCK ? TOKEN ?"));
  }

  /** FENCED is no name, or DELETE FROM t FENCED would delete from t under the alias FENCED. */
  @Test
  void fencedIsReserved() {
    assertRefused("DELETE FROM t FENCED", Reason.SYNTAX, 20, "too early");
    assertRefused("SELECT 1 AS fenced", Reason.SYNTAX, 13, "FENCED BY LOCK stands");
    assertNotNull(frontend.plan("SELECT \"FENCED\" FROM t"));
  }

  @Test
  void otherWordsOfTheClauseAreFree() {
    assertNotNull(
        frontend.plan("SELECT lock, token, monotonic, fencing FROM lock AS token WHERE lock = 1"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          DELETE FROM t FENCED BY LOCK 'a'                                   | SYNTAX        | 15 | needs a TOKEN here
          DROP TABLE t FENCED BY LOCK 'a'                                    | SYNTAX        | 14 | needs a TOKEN here
          DELETE FROM t FENCED BY LOCK                                       | SYNTAX        | 28 | ends too early
          DELETE FROM t FENCED BY KEY 'a' TOKEN 1                            | SYNTAX        | 25 | unexpected "KEY"
          DELETE FROM t FENCED BY lok 'a' TOKEN 1                            | SYNTAX        | 25 | expected LOCK
          DELETE FROM t FENCED BY LOCK a TOKEN 1                             | SYNTAX        | 30 | unexpected "a"
          DELETE FROM t FENCED BY LOCK 'a' TOKEN -1                          | SYNTAX        | 40 | unexpected "-"
          DELETE FROM t FENCED BY LOCK 'a' TOKEN 1.5                         | SYNTAX        | 40 | unexpected "1.5"
          DELETE FROM t FENCED BY LOCK 'a' TOKEN 9223372036854775808         | NOT_ALLOWED   | 40 | at most 9223372036854775807
          DELETE FROM t FENCED BY LOCK 'a' TOKEN 1 WHERE b = 1               | SYNTAX        | 42 | unexpected "WHERE"
          DELETE FROM t FENCED BY LOCK 'a' TOKEN 1 FENCED BY LOCK 'b' TOKEN 2| SYNTAX        | 42 | ends with one clause about a lock
          DELETE FROM t FENCED BY LOCK '' TOKEN 1                            | NOT_ALLOWED   | 30 | 1 to 255 characters
          CREATE TABLE t (id INT) FENCED BY LOCK ?                           | NOT_ALLOWED   | 40 | must be written out
          CREATE TABLE t (id INT) FENCED BY LOCK 'a' TOKEN 1 FENCED BY LOCK 'b' | SYNTAX     | 52 | one fence
          CREATE TABLE t (id INT) FENCED BY LOCK 'a' FENCED BY LOCK 'b'      | SYNTAX        | 44 | needs a TOKEN here
          CREATE VIEW v AS SELECT 1 FENCED BY LOCK 'a'                       | SYNTAX        | 27 | needs a TOKEN here
          ALTER TABLE t FENCED BY LOCK 'a' TOKEN 1                           | NOT_ALLOWED   | 40 | without TOKEN
          ALTER TABLE t FENCED BY LOCK 'a' FENCED BY LOCK 'b' TOKEN 1        | NOT_SUPPORTED | 34 | cannot be fenced itself
          ALTER TABLE t NOT FENCED FENCED BY LOCK 'b' TOKEN 1                | NOT_SUPPORTED | 26 | cannot be fenced itself
          ALTER TABLE IF EXISTS t FENCED BY LOCK 'a'                         | SYNTAX        | 25 | does not go with IF EXISTS
          ALTER TABLE IF EXISTS t NOT FENCED                                 | SYNTAX        | 29 | does not go with IF EXISTS
          SELECT * FROM FINAL TABLE (INSERT INTO t VALUES (1) FENCED BY LOCK 'a' TOKEN 1) | SYNTAX | 53 | stands at the end
          SET FENCING TOKEN 1                                                | SYNTAX        | 19 | ends too early
          SET FENCING TOKEN 'a' FOR LOCK 'b'                                 | SYNTAX        | 19 | unexpected "'a'"
          SET FENCING TOKEN 1 FOR LOCK ''                                    | NOT_ALLOWED   | 30 | 1 to 255 characters
          SET FENCING TOKEN 1 FOR LOCK (a)                                   | NOT_ALLOWED   | 30 | here name one lock
          SET FENCED BY LOCK 'a'                                             | SYNTAX        | 5  | needs a TOKEN here
          SET FENCED BY LOCK 'a' TOKEN NULL                                  | SYNTAX        | 30 | unexpected "NULL"
          SET FENCED BY LOCK '' TOKEN 1                                      | NOT_ALLOWED   | 20 | 1 to 255 characters
          SET FENCED BY LOCK (a) TOKEN 1                                     | NOT_ALLOWED   | 20 | here name one lock
          SET FENCED MONOTONIC BY LOCK 'a' TOKEN 1                           | NOT_SUPPORTED | 5  | write SET FENCING TOKEN n FOR LOCK 'name'
          SET FENCED BY LOCK 'a' TOKEN 1 FENCED BY LOCK 'b' TOKEN 2          | SYNTAX        | 32 | or after SET
          SET NOT FENCED BY LOCK 'a' TOKEN 1                                 | SYNTAX        | 16 | unexpected "BY"
          SET FENCED                                                         | SYNTAX        | 10 | ends too early
          SET FENCED = TRUE                                                  | SYNTAX        | 12 | unexpected "="
          SET NOT AUTOCOMMIT                                                 | NOT_ALLOWED   | 1  | SET NOT is not allowed
          """)
  void misplacedFenceIsRefused(String sql, Reason reason, int column, String sentence) {
    assertRefused(sql, reason, column, sentence);
  }
}
