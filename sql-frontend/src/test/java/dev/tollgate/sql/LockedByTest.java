package dev.tollgate.sql;

import static dev.tollgate.sql.Refusal.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.sql.SqlRefused.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** LOCKED BY at the end of a change names a lock that the statement takes; H2 does not see it. */
class LockedByTest {

  private final SqlFrontend frontend = new SqlFrontend(0);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          INSERT INTO t (a) VALUES (?)            | 1
          INSERT INTO t SELECT a FROM s           | 0
          INSERT INTO t SELECT a FROM locked      | 0
          INSERT INTO t DEFAULT VALUES            | 0
          UPDATE t SET a = ? WHERE b = ?          | 2
          UPDATE t SET a = locked                 | 0
          DELETE FROM t                           | 0
          DELETE FROM t x WHERE a = ?             | 1
          DELETE FROM t LIMIT 5                   | 0
          MERGE INTO t (a) KEY (a) VALUES (?)     | 1
          MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE | 0
          """)
  void lockIsCutFromTheEndOfAnyChange(String statement, int parameters) {
    Plan.Write literal = (Plan.Write) frontend.plan(statement + " LOCKED BY 'job'");
    assertEquals(statement, literal.sql());
    assertEquals(new Argument.Text("job"), literal.lockedBy());
    assertEquals(parameters, literal.parameterCount());
    assertEquals(parameters, literal.sqlParameterCount());
    assertNull(literal.fence());

    Plan.Write bound = (Plan.Write) frontend.plan(statement + "\nlocked by ? ;");
    assertEquals(statement, bound.sql());
    assertEquals(new Argument.Parameter(parameters), bound.lockedBy());
    assertEquals(parameters + 1, bound.parameterCount());
    assertEquals(parameters, bound.sqlParameterCount());
  }

  /** The parentheses that a bare subquery gets, and the alias of an item, end before the clause. */
  @Test
  void clauseIsNoPartOfASubquery() {
    assertEquals(
        "DELETE FROM t WHERE a =(SELECT b FROM u )",
        ((Plan.Write) frontend.plan("DELETE FROM t WHERE a = SELECT b FROM u LOCKED BY 'job'"))
            .sql());
    assertEquals(
        "INSERT INTO t SELECT TOLLGATE.LPAD(a, 2) AS \"LPAD(A, 2)\"",
        ((Plan.Write) frontend.plan("INSERT INTO t SELECT LPAD(a, 2) LOCKED BY ?")).sql());
  }

  @Test
  void explanationLeavesTheLockOut() {
    assertEquals(
        new Plan.Read("EXPLAIN UPDATE t SET a = ?", 2, 1),
        frontend.plan("EXPLAIN UPDATE t SET a = ? LOCKED BY ?"));
  }

  /** Tables of locks have columns of this name. */
  @Test
  void lockedIsAName() {
    assertEquals(
        "UPDATE locked SET locked = TRUE WHERE id = 1 AND locked = FALSE",
        ((Plan.Write)
                frontend.plan("UPDATE locked SET locked = TRUE WHERE id = 1 AND locked = FALSE"))
            .sql());
    assertInstanceOf(Plan.Read.class, frontend.plan("SELECT a locked FROM t locked"));
    assertInstanceOf(
        Plan.Read.class, frontend.plan("SELECT locked FROM t GROUP BY locked ORDER BY locked"));
    assertInstanceOf(
        Plan.Write.class, frontend.plan("SELECT locked FROM locked FOR UPDATE SKIP LOCKED"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          DELETE FROM t LOCKED BY                              | SYNTAX      | 23 | ends too early
          DELETE FROM t LOCKED BY a                            | SYNTAX      | 25 | unexpected "a"
          DELETE FROM t LOCKED BY ''                           | NOT_ALLOWED | 25 | 1 to 255 characters
          DELETE FROM t LOCKED BY (CONCAT('job', id))          | NOT_ALLOWED | 25 | here name one lock
          DELETE FROM t LOCKED BY 'a' WHERE b = 1              | SYNTAX      | 29 | unexpected "WHERE"
          DELETE FROM t LOCKED BY 'a' LOCKED BY 'b'            | SYNTAX      | 29 | ends with one clause about a lock
          DELETE FROM t LOCKED BY 'a' FENCED BY LOCK 'b' TOKEN 1 | SYNTAX    | 29 | ends with one clause about a lock
          DELETE FROM t FENCED BY LOCK 'b' TOKEN 1 LOCKED BY 'a' | SYNTAX    | 42 | ends with one clause about a lock
          SELECT * FROM t LOCKED BY 'a'                        | SYNTAX      | 17 | LOCKED BY stands at the end of an INSERT
          SELECT * FROM t FOR UPDATE LOCKED BY 'a'             | SYNTAX      | 28 | LOCKED BY stands
          SELECT * FROM FINAL TABLE (DELETE FROM t LOCKED BY 'a') | SYNTAX   | 42 | LOCKED BY stands
          CREATE TABLE t (id INT) LOCKED BY 'a'                | SYNTAX      | 25 | and nowhere else
          TRUNCATE TABLE t LOCKED BY 'a'                       | SYNTAX      | 18 | and nowhere else
          SET LOCKED BY 'a'                                    | NOT_ALLOWED | 1  | SET LOCKED is not allowed
          CALL 1 LOCKED BY 'a'                                 | SYNTAX      | 8  | LOCKED BY stands
          """)
  void misplacedClauseIsRefused(String sql, Reason reason, int column, String sentence) {
    assertRefused(sql, reason, column, sentence);
  }
}
