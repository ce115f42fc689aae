package dev.tollgate.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Meters stand between the expressions of a statement, and H2 asks of some expressions what they
 * are, or where they stand, while it runs the statement. Each query here gives what plain H2 gives,
 * the rows of an INSERT included.
 */
class MeteredResultsTest {
  private static final List<String> TABLES =
      List.of(
          "CREATE TABLE T(ID INT PRIMARY KEY, V INT, S VARCHAR, N NUMERIC(20, 2), D DECFLOAT(34))",
          "INSERT INTO T VALUES(4, 1, 'd', 1.5, 1), (2, 3, 'b', 2.5, 2), (3, 2, 'c', NULL, 3),"
              + " (1, 3, 'a', 4.5, 4), (5, NULL, NULL, 0.5, 5)",
          "CREATE INDEX TS ON T(S)",
          "CREATE INDEX TN ON T(N)",
          "CREATE INDEX TD ON T(D)",
          "CREATE TABLE R(A VARCHAR)");

  private Side tollgate;
  private Side h2;

  @BeforeEach
  void open() throws SQLException {
    tollgate = new Side("jdbc:tollgate:mem:metered");
    h2 = new Side("jdbc:h2:mem:metered");
    TABLES.forEach(this::equal);
  }

  @AfterEach
  void close() throws SQLException {
    equal("DROP TABLE T, R");
    tollgate.close();
    h2.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SUM(V) OVER (ORDER BY ID DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "SUM(V) OVER (ORDER BY ID RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "SUM(V) OVER (ORDER BY ID ROWS BETWEEN COALESCE(V, 0) PRECEDING AND CURRENT ROW)",
        "SUM(V) FILTER (WHERE V > 1) OVER (ORDER BY ID ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
        "COUNT(*) OVER (ORDER BY ID GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES)",
        "COUNT(DISTINCT V) OVER (ORDER BY ID)",
        "SUM(DISTINCT V) OVER (PARTITION BY MOD(ID, 2) ORDER BY ID)",
        "MEDIAN(V) OVER (ORDER BY ID DESC)",
        "ARRAY_AGG(S ORDER BY S) OVER (ORDER BY ID)",
        "LISTAGG(S, '-') WITHIN GROUP (ORDER BY S) OVER (ORDER BY ID)",
        "NTH_VALUE(S, 2) OVER (ORDER BY ID)",
        "NTH_VALUE(S, 2) FROM LAST IGNORE NULLS OVER (ORDER BY ID)",
        "LAG(S) IGNORE NULLS OVER (ORDER BY ID DESC)",
        "FIRST_VALUE(S) OVER (PARTITION BY V ORDER BY ID DESC)",
        "ROW_NUMBER() OVER (ORDER BY S DESC)",
        "RANK() OVER (PARTITION BY S || 'x' ORDER BY V)",
        "NTILE(2) OVER (ORDER BY ID)",
        "CASE S WHEN 'a' THEN 1 WHEN 'b' THEN 2 END",
        "CASE WHEN S IN ('a', 'c') THEN S ELSE UPPER(S) END",
        "(S, V) IN (('a', 3), ('b', 2))",
        "(S, V) < ('c', 3)",
        "S BETWEEN 'b' AND 'c'",
        "S IS DISTINCT FROM 'a'",
        "S = ANY(ARRAY['a', 'b'])",
        "ARRAY[S, UPPER(S)][2]",
        "ROW(S, V) = ROW('a', 3)",
        "COALESCE(S, 'none') || NULLIF(S, 'a')",
        "DECODE(S, 'a', 1, 'b', 2)",
        "N / 3",
        "D / 3",
        "HASH('SHA-256', S, 10)",
        "LENGTH(RAWTOHEX(S))",
        "JSON_ARRAY(S, V)",
        "JSON_ARRAY((SELECT ID FROM T))",
        "JSON_ARRAY((SELECT ID FROM T WHERE FALSE) NULL ON NULL)",
        "JSON_ARRAY((SELECT '{}' FROM T) FORMAT JSON)",
        "JSON_OBJECT('s': S)"
      })
  void eachRow(String expression) {
    equal("SELECT ID, " + expression + " AS X FROM T ORDER BY ID");
    inserted("SELECT CAST(" + expression + " AS VARCHAR) FROM T");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "MAX(S)",
        "MIN(N)",
        "MAX(D)",
        "MEDIAN(N)",
        "MEDIAN(S)",
        "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY S)",
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY N)",
        "MODE() WITHIN GROUP (ORDER BY V)",
        "COUNT(DISTINCT S)",
        "COUNT(DISTINCT V) FILTER (WHERE V > 1)",
        "LISTAGG(S, '-') WITHIN GROUP (ORDER BY S DESC)",
        "ARRAY_AGG(S ORDER BY ID)",
        "JSON_ARRAYAGG(S ORDER BY ID NULL ON NULL)",
        "JSON_OBJECTAGG(KEY ID || 'k' VALUE V)",
        "AVG(D)",
        "RANK('b') WITHIN GROUP (ORDER BY S)",
        "STDDEV_POP(V)"
      })
  void eachGroup(String aggregate) {
    equal("SELECT " + aggregate + " AS X FROM T");
    equal("SELECT V, " + aggregate + " AS X FROM T GROUP BY V HAVING COUNT(*) > 0 ORDER BY V");
    if (!aggregate.startsWith("JSON_OBJECTAGG")) {
      inserted("SELECT CAST(" + aggregate + " AS VARCHAR) FROM T");
    }
  }

  private void inserted(String query) {
    equal("INSERT INTO R " + query);
    equal("SELECT A FROM R ORDER BY A");
  }

  private void equal(String sql) {
    List<String> answer = tollgate.runInOrder(sql);
    assertFalse(answer.get(0).startsWith("state"), answer.toString());
    assertEquals(h2.runInOrder(sql), answer, sql);
  }
}
