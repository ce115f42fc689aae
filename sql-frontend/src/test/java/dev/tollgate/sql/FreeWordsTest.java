package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Words that only Calcite reserves are names to us, as they are to H2. */
class FreeWordsTest {

  private final SqlFrontend frontend = new SqlFrontend(0);

  static Stream<String> words() {
    return FreeWords.all();
  }

  @ParameterizedTest
  @MethodSource("words")
  void wordIsANameToH2AndToUs(String word) throws SQLException {
    try (Connection h2 = DriverManager.getConnection("jdbc:h2:mem:");
        Statement statement = h2.createStatement()) {
      for (String sql :
          List.of(
              "SELECT NULL WORD FROM (SELECT 1) T",
              "SELECT WORD FROM (SELECT 1 AS WORD) T",
              "SELECT T.WORD, WORD + 1 AS X FROM (SELECT 1 AS WORD) T WHERE WORD = 1 ORDER BY WORD",
              "SELECT A, WORD FROM (SELECT 1 AS A, 2 AS WORD) T GROUP BY A, WORD HAVING WORD > 1",
              "SELECT WORD.A FROM (SELECT 1 AS A) AS WORD")) {
        String text = sql.replace("WORD", word);
        if (word.equals("REGEXP") && text.startsWith("SELECT NULL")) {
          continue; // an operator there, to H2 as well
        }
        Plan.Read plan = assertInstanceOf(Plan.Read.class, frontend.plan(text), text);
        try (ResultSet expected = statement.executeQuery(text)) {
          String label = expected.getMetaData().getColumnLabel(1);
          try (ResultSet actual = statement.executeQuery(plan.sql())) {
            assertEquals(label, actual.getMetaData().getColumnLabel(1));
          }
        }
      }
      for (String sql :
          List.of(
              "CREATE TABLE T(A INT, WORD INT)",
              "INSERT INTO T(WORD, A) VALUES(1, 2)",
              "UPDATE T X SET A = 5, X.WORD = WORD + 1 WHERE WORD = 1 AND X.WORD IS NOT NULL",
              "DELETE FROM T WHERE WORD = 7",
              "CREATE INDEX I ON T(WORD)",
              "ALTER TABLE T ALTER COLUMN WORD SET NOT NULL",
              "CREATE TABLE WORD(ID INT PRIMARY KEY, WORD INT)",
              "INSERT INTO WORD(ID, WORD) VALUES(1, 2)",
              "CREATE TABLE IF NOT EXISTS WORD(ID INT)",
              "CREATE INDEX J ON WORD(ID)",
              "CREATE TABLE R(ID INT REFERENCES WORD(ID) ON DELETE CASCADE ON UPDATE CASCADE)",
              "UPDATE WORD SET ID = 3 WHERE WORD.ID = 1",
              "MERGE INTO WORD(ID) KEY(ID) VALUES(1)",
              "DELETE FROM WORD WHERE ID = 1",
              "ALTER TABLE WORD DROP COLUMN WORD",
              "DROP TABLE R, WORD")) {
        String text = sql.replace("WORD", word);
        statement.execute(assertInstanceOf(Plan.Write.class, frontend.plan(text), text).sql());
      }
    }
  }

  /** Where they are more than names, they stay what they are. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT CAST(1 AS DOUBLE PRECISION), CAST(1 AS NUMERIC(10, 2)), CAST(1 AS DECIMAL)",
        "SELECT LISTAGG(x) WITHIN GROUP (ORDER BY x), COUNT(x) FILTER (WHERE x > 1) FROM t",
        "SELECT SUM(x) OVER (PARTITION BY y ORDER BY x), CUME_DIST() OVER (ORDER BY x) FROM t",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) TABLE r",
        "SELECT TRIM(BOTH 'x' FROM a), SUBSTRING(a FROM 2 FOR 3), EXTRACT(YEAR FROM b) FROM t",
        "SELECT COALESCE(NULLIF(a, 1), CARDINALITY(ARRAY[1])) FROM t, UNNEST(ARRAY[1, 2])",
        "SELECT a FROM s JOIN t ON COALESCE(a, 1) = 1 LEFT OUTER JOIN u ON FILTER = u.a",
        "SELECT SUM(rows) OVER (PARTITION BY groups ORDER BY rows ROWS BETWEEN CURRENT ROW AND 1"
            + " FOLLOWING) FROM t",
        "SELECT SUM(a) OVER (ROWS UNBOUNDED PRECEDING), SUM(a) OVER (GROUPS 1 PRECEDING) FROM t",
        "SELECT CASE WHEN x = y THEN LEFT(a, 1) ELSE RIGHT(a, 1) END FROM t",
        "SELECT INTERVAL '1' YEAR, d - INTERVAL -'1' MONTH, (a - b) YEAR FROM t",
        "EXPLAIN DELETE FROM t",
        "SELECT a FROM t ORDER BY rows OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY",
        "SELECT TRIM(LEADING FROM both), TRIM(TRAILING 'x' FROM then) FROM t",
        "SELECT CASE WHEN then = 1 THEN update ELSE delete END FROM t",
        "SELECT (a, b) OVERLAPS (c, d), a LIKE 'x' ESCAPE 'y', a NOT REGEXP 'x' FROM t",
        "SELECT CAST(a AS CHARACTER), CAST(a AS CHARACTER VARYING), CAST(a AS BIT) FROM t"
      })
  void wordKeepsItsMeaning(String sql) {
    assertInstanceOf(Plan.Read.class, frontend.plan(sql));
  }

  @Test
  void changeBehindNewTableIsStillSeen() {
    Plan plan = frontend.plan("SELECT * FROM NEW TABLE (INSERT INTO t VALUES (1))");
    assertTrue(assertInstanceOf(Plan.Write.class, plan).returnsRows());
  }

  /** Where H2 reads a statement or a clause, the word stays one. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT * FROM OLD TABLE (DELETE FROM t)",
        "SELECT * FROM FINAL TABLE (UPDATE t SET update = 1)",
        "SELECT NEXT VALUE FOR next, next FROM t",
        "SELECT a FROM t FOR UPDATE",
        "MERGE INTO t USING s ON delete = 1 WHEN MATCHED AND update = 1 THEN UPDATE SET drop = 2"
            + " WHEN NOT MATCHED THEN INSERT (insert) VALUES (1)",
        "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE",
        "CREATE TABLE t (update INT REFERENCES s (a) ON DELETE SET NULL ON UPDATE NO ACTION,"
            + " character CHARACTER VARYING(10), bit BIT, b CHARACTER LARGE OBJECT)",
        "ALTER TABLE t ALTER COLUMN drop DROP DEFAULT",
        "ALTER TABLE t DROP COLUMN column",
        "COMMENT ON COLUMN t.column IS 'x'",
        "GRANT SELECT, INSERT, DELETE ON t TO r"
      })
  void clauseIsStillSeen(String sql) {
    assertInstanceOf(Plan.Write.class, frontend.plan(sql));
  }

  /** What neither takes unquoted. */
  @ParameterizedTest
  @ValueSource(strings = {"TABLE", "ALL", "WINDOW", "FENCED"})
  void reservedWordIsToBeQuoted(String word) {
    SqlRefused refused =
        assertThrows(
            SqlRefused.class, () -> frontend.plan("CREATE TABLE t (a INT, " + word + " INT)"));
    assertTrue(String.valueOf(refused.getMessage()).contains(word), refused.getMessage());
    frontend.plan("CREATE TABLE t (a INT, \"" + word + "\" INT)");
  }
}
