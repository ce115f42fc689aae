package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whether a statement reads or writes, and what it writes. */
class ClassificationTest {

  private final SqlFrontend frontend = new SqlFrontend(0);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT 1",
        "SELECT a FROM t",
        "TABLE t",
        "VALUES (1, 2)",
        "(SELECT 1)",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "SELECT a FROM TOLLGATE.LOCKS",
        "SELECT * FROM INFORMATION_SCHEMA.TABLES",
        "CALL 1 + 1",
        "CALL SCHEMA()",
        "? = CALL ABS(?)",
        "SELECT USER, CURRENT_SCHEMA, SESSION_ID(), ROWNUM, x._ROWID_ FROM x",
        "SELECT NOW(), RAND(), RANDOM_UUID(4), TO_CHAR(d, 'x'), LISTAGG(a) FROM t",
        "EXPLAIN SELECT a FROM t",
        "EXPLAIN PLAN FOR SELECT a FROM t FOR UPDATE",
        "EXPLAIN ANALYZE SELECT a FROM t",
        "EXPLAIN INSERT INTO t VALUES (NEXT VALUE FOR s)",
        "SHOW TABLES",
        "SHOW COLUMNS FROM t FROM s",
        "SHOW TRANSACTION ISOLATION LEVEL",
        "SHOW SERVER_VERSION"
      })
  void queryIsARead(String sql) {
    Plan.Read read = assertInstanceOf(Plan.Read.class, frontend.plan(sql));
    assertEquals(sql, read.sql());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          INSERT INTO t VALUES (1)                                    | DML      | TABLE T
          INSERT INTO s.t SELECT * FROM u                             | DML      | TABLE S.T
          INSERT INTO db.s."t" DEFAULT VALUES                         | DML      | TABLE S.t
          UPDATE "T t" x SET a = 1                                    | DML      | TABLE T t
          DELETE FROM t                                               | DML      | TABLE T
          MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE  | DML      | TABLE T
          MERGE INTO t KEY (a) SELECT * FROM u                        | DML      | TABLE T
          INSERT INTO t SELECT a FROM OLD TABLE (DELETE FROM u)       | DML      | TABLE T, TABLE U
          SELECT * FROM FINAL TABLE (INSERT INTO t VALUES (1))        | DML rows | TABLE T
          SELECT * FROM u, (SELECT * FROM NEW TABLE (UPDATE t SET a = 1)) x | DML rows | TABLE T
          WITH x AS (SELECT * FROM OLD TABLE (DELETE FROM t)) SELECT * FROM x | DML rows | TABLE T
          SELECT a FROM t FOR UPDATE                                  | DML rows | ``
          SELECT a FROM t FOR UPDATE SKIP LOCKED                      | DML rows | ``
          SELECT NEXT VALUE FOR s                                     | DML rows | ``
          SELECT a FROM t WHERE b = (SELECT NEXT VALUE FOR s)         | DML rows | ``
          VALUES (NEXT VALUE FOR s)                                   | DML rows | ``
          CALL NEXT VALUE FOR s                                       | DML rows | ``
          ? = CALL NEXT VALUE FOR s                                   | DML rows | ``
          CREATE TABLE t (a INT REFERENCES u (a))                     | DDL      | TABLE T
          CREATE TABLE t AS SELECT NEXT VALUE FOR s                   | DDL      | TABLE T
          CREATE GLOBAL TEMPORARY TABLE s.t (a INT)                   | DDL      | TABLE S.T
          CREATE UNIQUE INDEX i ON s.t (a)                            | DDL      | INDEX I, TABLE S.T
          CREATE INDEX ON t (a)                                       | DDL      | TABLE T
          CREATE OR REPLACE VIEW v AS SELECT * FROM t                 | DDL      | VIEW V
          CREATE SEQUENCE s                                           | DDL      | SEQUENCE S
          CREATE SCHEMA app                                           | DDL      | SCHEMA APP
          CREATE DOMAIN d AS INT                                      | DDL      | DOMAIN D
          ALTER TABLE IF EXISTS s.t ADD COLUMN a INT                  | DDL      | TABLE S.T
          ALTER INDEX i RENAME TO j                                   | DDL      | INDEX I
          ALTER SEQUENCE s RESTART                                    | DDL      | SEQUENCE S
          ALTER VIEW v RECOMPILE                                      | DDL      | VIEW V
          ALTER SCHEMA a RENAME TO b                                  | DDL      | SCHEMA A, SCHEMA B
          ALTER DOMAIN d RENAME TO e                                  | DDL      | DOMAIN D
          DROP TABLE IF EXISTS a, b.c CASCADE                         | DDL      | TABLE A, TABLE B.C
          DROP VIEW v                                                 | DDL      | VIEW V
          DROP INDEX s.i                                              | DDL      | INDEX S.I
          DROP SCHEMA app CASCADE                                     | DDL      | SCHEMA APP
          DROP SEQUENCE s                                             | DDL      | SEQUENCE S
          DROP DOMAIN d                                               | DDL      | DOMAIN D
          DROP CONSTANT c                                             | DDL      | CONSTANT C
          TRUNCATE TABLE t                                            | DDL      | TABLE T
          COMMENT ON TABLE t IS 'x'                                   | DDL      | TABLE T
          COMMENT ON COLUMN s.t.a IS 'x'                              | DDL      | TABLE S.T
          COMMENT ON CONSTRAINT s.c IS 'x'                            | DDL      | CONSTRAINT S.C
          """)
  void writeNamesItsTargets(String sql, String kind, String targets) {
    Plan.Write write = assertInstanceOf(Plan.Write.class, frontend.plan(sql));
    assertEquals(kind, write.kind() + (write.returnsRows() ? " rows" : ""));
    assertEquals(
        targets,
        write.targets().stream()
            .map(target -> target.kind() + " " + target.name())
            .collect(Collectors.joining(", ")));
    assertEquals(sql, write.sql());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT 1                                              | 0
          SELECT ?, '?', "?" FROM t WHERE a = ? -- ?            | 2
          SELECT TOP ? a FROM t                                 | 1
          SELECT a FROM t OFFSET ? ROWS FETCH NEXT ? ROWS ONLY  | 2
          SELECT a FROM t LIMIT ?                               | 1
          SELECT ?::INT, CAST(? AS INT), (?), ARRAY[?], ABS(?)  | 5
          ? = CALL ? + ?                                        | 3
          INSERT INTO t VALUES (?, ?), (?, DEFAULT)             | 3
          EXPLAIN SELECT ?                                      | 1
          """)
  void parametersAreCounted(String sql, int count) {
    Plan plan = frontend.plan(sql);
    assertEquals(count, plan.parameterCount());
    if (plan instanceof Plan.Read read) {
      assertEquals(count, read.sqlParameterCount());
    }
  }

  @Test
  void targetNamedTwiceIsOneTarget() {
    Plan.Write write =
        (Plan.Write)
            frontend.plan("INSERT INTO t SELECT a FROM FINAL TABLE (INSERT INTO t VALUES (1))");
    assertEquals(1, write.targets().size());
  }
}
