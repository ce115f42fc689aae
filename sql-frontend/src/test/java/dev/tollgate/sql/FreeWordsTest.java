package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
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
              "SELECT NULL WORD",
              "SELECT WORD FROM (SELECT 1 AS WORD) T",
              "SELECT T.WORD, WORD + 1 AS X FROM (SELECT 1 WORD) T WHERE WORD = 1 ORDER BY WORD",
              "SELECT WORD.A FROM (SELECT 1 AS A) WORD")) {
        String text = sql.replace("WORD", word);
        Plan.Read plan = assertInstanceOf(Plan.Read.class, frontend.plan(text), text);
        try (ResultSet expected = statement.executeQuery(text)) {
          String label = expected.getMetaData().getColumnLabel(1);
          try (ResultSet actual = statement.executeQuery(plan.sql())) {
            assertEquals(label, actual.getMetaData().getColumnLabel(1));
          }
        }
      }
      String table = "CREATE TABLE T(A INT, WORD INT)".replace("WORD", word);
      statement.execute(assertInstanceOf(Plan.Write.class, frontend.plan(table)).sql());
      String insert = "INSERT INTO T(WORD, A) VALUES(1, 2)".replace("WORD", word);
      statement.execute(assertInstanceOf(Plan.Write.class, frontend.plan(insert)).sql());
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
        "SELECT COALESCE(NULLIF(a, 1), CARDINALITY(ARRAY[1])) FROM t, UNNEST(ARRAY[1, 2])"
      })
  void wordKeepsItsMeaning(String sql) {
    assertInstanceOf(Plan.Read.class, frontend.plan(sql));
  }

  @Test
  void changeBehindNewTableIsStillSeen() {
    Plan plan = frontend.plan("SELECT * FROM NEW TABLE (INSERT INTO t VALUES (1))");
    assertTrue(assertInstanceOf(Plan.Write.class, plan).returnsRows());
  }
}
