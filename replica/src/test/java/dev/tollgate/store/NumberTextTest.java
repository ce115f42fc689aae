package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.store.limits.NumberText;
import java.sql.SQLException;
import java.util.List;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueVarchar;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every way on which a text becomes an exact number, and none on which it does not. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NumberTextTest {
  /** Long enough to be refused; H2 alone takes part of a second. */
  private static final String TOO_LONG = "1e2000000";

  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @AfterEach
  void close() {
    replica.close();
  }

  /** S has texts of which some are too long, T has numbers. */
  private void makeTables() {
    replica.ok(
        session, "CREATE TABLE S(ID INT PRIMARY KEY, V VARCHAR, X VARCHAR, A VARCHAR ARRAY)");
    replica.ok(
        session,
        "INSERT INTO S VALUES(1, ?, ?, NULL), (2, '12', 'x12', NULL)",
        TOO_LONG,
        "x" + TOO_LONG);
    replica.ok(session, "UPDATE S SET A = ARRAY[V]");
    replica.ok(
        session,
        "CREATE TABLE T(ID INT PRIMARY KEY, N NUMERIC(20, 2), D DECFLOAT,"
            + " NS NUMERIC(20, 2) ARRAY, H VARCHAR)");
    replica.ok(session, "CREATE INDEX TN ON T(N)");
    replica.ok(session, "CREATE INDEX SV ON S(ID, V)");
    replica.ok(session, "INSERT INTO T VALUES(1, 12, 1, NULL, '1'), (2, 13, 2, NULL, '2')");
    replica.ok(session, "CREATE DOMAIN D AS NUMERIC(20, 2)");
    replica.ok(session, "CREATE VIEW W AS SELECT ID, CAST(V AS NUMERIC(20, 2)) N FROM S");
  }

  static List<String> queries() {
    return List.of(
        "SELECT CAST(V AS NUMERIC(20, 2)) FROM S",
        "SELECT V::NUMERIC(20, 2) FROM S",
        "SELECT CONVERT(V, NUMERIC(20, 2)) FROM S",
        "SELECT CAST(V AS D) FROM S",
        "SELECT CAST(CAST(V AS CLOB) AS NUMERIC(20, 2)) FROM S",
        "SELECT CAST(CAST(V AS VARCHAR_IGNORECASE) AS NUMERIC(20, 2)) FROM S",
        "SELECT CAST(SUBSTRING(X FROM 2) AS NUMERIC(20, 2)) FROM S",
        "SELECT CAST(V || '' AS NUMERIC(20, 2)) FROM S",
        "SELECT CAST(A AS NUMERIC(20, 2) ARRAY) FROM S",
        "SELECT CAST(A[1] AS NUMERIC(20, 2)) FROM S",
        "SELECT CAST(ROW(1, V) AS ROW(I INT, N NUMERIC(20, 2))) FROM S",
        "SELECT CAST((SELECT MAX(V) FROM S) AS NUMERIC(20, 2))",
        "SELECT CAST(MAX(V) AS NUMERIC(20, 2)) FROM S GROUP BY ID",
        "SELECT MAX(CAST(V AS NUMERIC(20, 2))) FROM S",
        "SELECT CAST(MAX(V) OVER (PARTITION BY ID) AS NUMERIC(20, 2)) FROM S",
        "SELECT COUNT(*) FROM S, T WHERE N = V",
        "SELECT COUNT(*) FROM S, T WHERE V = N",
        "SELECT COUNT(*) FROM T WHERE N < (SELECT V FROM S WHERE ID = 1)",
        "SELECT COUNT(*) FROM S JOIN T ON N IS NOT DISTINCT FROM V",
        "SELECT COUNT(*) FROM S JOIN T USING (ID) WHERE (S.ID, V) = (T.ID, N)",
        "SELECT COUNT(*) FROM T WHERE N IN (SELECT V FROM S)",
        "SELECT COUNT(*) FROM T WHERE N IN (SELECT V FROM S WHERE S.ID = T.ID)",
        "SELECT COUNT(*) FROM T WHERE N > ANY (SELECT V FROM S)",
        "SELECT COUNT(*) FROM S, T WHERE N IN (V, '12')",
        "SELECT COUNT(*) FROM S, T WHERE N BETWEEN V AND V",
        "SELECT COUNT(*) FROM S, T WHERE V BETWEEN N AND N",
        "SELECT COUNT(*) FROM S, T WHERE N = ANY(A)",
        "SELECT COALESCE(V, N) FROM S, T",
        "SELECT NULLIF(N, V) FROM S, T",
        "SELECT GREATEST(N, V) FROM S, T",
        "SELECT CASE WHEN S.ID = 1 THEN V ELSE N END FROM S, T",
        "SELECT CASE N WHEN V THEN 1 END FROM S, T",
        "SELECT CASE S.ID WHEN 1 THEN V ELSE N END FROM S, T",
        "SELECT DECODE(N, V, 1) FROM S, T",
        "SELECT ARRAY[N, V] FROM S, T",
        "SELECT ARRAY_CONTAINS(ARRAY[N], V) FROM S, T",
        "SELECT N FROM T UNION SELECT V FROM S",
        "SELECT V FROM S UNION ALL SELECT N FROM T",
        "SELECT N FROM T INTERSECT SELECT V FROM S",
        "SELECT N FROM T EXCEPT SELECT V FROM S",
        "SELECT * FROM (VALUES(CAST(1 AS NUMERIC(20, 2))), ((SELECT V FROM S WHERE ID = 1)))",
        "WITH RECURSIVE R(I, N) AS (SELECT 1, CAST(1 AS NUMERIC(20, 2)) UNION ALL"
            + " SELECT I + 1, (SELECT V FROM S WHERE S.ID = 1) FROM R WHERE I < 2) SELECT * FROM R",
        "WITH C(N) AS (SELECT CAST(V AS NUMERIC(20, 2)) FROM S) SELECT * FROM C",
        "SELECT * FROM (SELECT V FROM S) X JOIN T ON T.N = X.V",
        "SELECT * FROM W",
        "SELECT W.ID FROM W WHERE N = '12'",
        "SELECT ID FROM S ORDER BY CAST(V AS NUMERIC(20, 2))",
        "SELECT COUNT(*) FROM S GROUP BY CAST(V AS NUMERIC(20, 2))",
        "SELECT ID FROM S GROUP BY ID, V HAVING CAST(V AS NUMERIC(20, 2)) IS NULL",
        "SELECT ID FROM S QUALIFY ROW_NUMBER() OVER (ORDER BY CAST(V AS NUMERIC(20, 2))) = 1",
        "SELECT LAG(CAST(V AS NUMERIC(20, 2))) OVER (ORDER BY ID) FROM S",
        "SELECT * FROM UNNEST(CAST((SELECT A FROM S WHERE ID = 1) AS NUMERIC(20, 2) ARRAY)) U(N)",
        "SELECT CHAR_LENGTH(CAST(CAST(V AS NUMERIC(20, 2)) AS VARCHAR)) FROM S",
        "SELECT CAST(CAST(N AS VARCHAR) AS NUMERIC(20, 2)) FROM (SELECT CAST(? AS NUMERIC(20, 2)) N)",
        "SELECT COUNT(*) FROM T WHERE N = ?",
        "SELECT COUNT(*) FROM T WHERE ? = N",
        "SELECT COUNT(*) FROM T WHERE N IN (?, '12')",
        "SELECT CAST(? AS NUMERIC(20, 2))",
        "SELECT COALESCE(?, N) FROM T",
        "SELECT V + 1.5 FROM S",
        "SELECT N * V FROM S, T",
        "SELECT MOD(V, 1.5) FROM S",
        "SELECT N / (V || '0') FROM S, T",
        "SELECT CAST(V AS DECFLOAT) FROM S",
        "SELECT CAST(D AS NUMERIC(20, 2)) + V FROM S, T",
        "SELECT COUNT(*) FROM T WHERE D + 1 = (SELECT V FROM S WHERE ID = 1)",
        "SELECT SUM(CAST(V AS DECFLOAT)) FROM S",
        "SELECT N FROM T WHERE N = (VALUES(?))",
        "SELECT ? + N FROM T");
  }

  @ParameterizedTest
  @MethodSource
  void queries(String sql) {
    makeTables();
    Object[] parameters = parametersOf(sql);
    SQLException ended =
        assertThrows(SQLException.class, () -> replica.query(sql, parameters), sql);
    assertRefused(ended.getSQLState(), ended.getMessage());
    refused("CREATE TABLE NEW AS " + sql, parameters);
  }

  private static Object[] parametersOf(String sql) {
    return sql.contains("?") ? new Object[] {TOO_LONG} : new Object[0];
  }

  static List<String> changes() {
    return List.of(
        "INSERT INTO T(ID, N) SELECT ID + 2, V FROM S",
        "INSERT INTO T(ID, N) SELECT ID + 2, SUBSTRING(X FROM 2) FROM S",
        "INSERT INTO T(ID, N) VALUES(3, (SELECT V FROM S WHERE ID = 1))",
        "INSERT INTO T(ID, N) VALUES(3, ?)",
        "INSERT INTO T(ID, N) VALUES(3, ? || '')",
        "INSERT INTO T(ID, N) VALUES(3, CAST(? AS NUMERIC(20, 2)))",
        "INSERT INTO T(ID, N) SELECT 3, ?",
        "INSERT INTO T(ID, NS) SELECT ID + 2, A FROM S",
        "INSERT INTO T(ID, NS) VALUES(3, ARRAY[CAST(? AS VARCHAR)])",
        "INSERT INTO T(ID, N) SELECT ID + 2, V FROM S UNION ALL SELECT ID + 4, V FROM S",
        "UPDATE T SET N = (SELECT V FROM S WHERE ID = 1)",
        "UPDATE T SET (ID, N) = (SELECT ID, V FROM S WHERE S.ID = T.ID)",
        "UPDATE T SET N = ?",
        "UPDATE S SET ID = ID + 5 WHERE CAST(V AS NUMERIC(20, 2)) IS NOT NULL",
        "UPDATE S SET V = CAST(V AS NUMERIC(20, 2))",
        "DELETE FROM T WHERE N IN (SELECT V FROM S)",
        "DELETE FROM S WHERE CAST(V AS NUMERIC(20, 2)) IS NOT NULL",
        "MERGE INTO T(ID, N) KEY(ID) SELECT ID, V FROM S",
        "MERGE INTO T(ID, N) KEY(N) SELECT ID + 5, V FROM S",
        "MERGE INTO T(ID, N) KEY(ID) VALUES(1, ?)",
        "MERGE INTO T USING S ON T.ID = S.ID WHEN MATCHED THEN UPDATE SET N = V",
        "MERGE INTO T USING S ON N = V WHEN MATCHED THEN DELETE",
        "MERGE INTO T USING S ON T.ID = S.ID + 9 WHEN NOT MATCHED THEN INSERT(ID, N)"
            + " VALUES(S.ID + 9, V)",
        "SELECT ID FROM FINAL TABLE (INSERT INTO T(ID, N) SELECT ID + 2, V FROM S)",
        "SELECT ID FROM OLD TABLE (UPDATE T SET N = (SELECT V FROM S WHERE ID = 1))",
        "SELECT CAST(V AS NUMERIC(20, 2)) FROM OLD TABLE (DELETE FROM S)",
        "SELECT CAST(V AS NUMERIC(20, 2)) FROM S FOR UPDATE");
  }

  @ParameterizedTest
  @MethodSource
  void changes(String sql) throws SQLException {
    makeTables();
    refused(sql, parametersOf(sql));
    assertEquals(List.of("1,12.00", "2,13.00"), replica.query("SELECT ID, N FROM T ORDER BY ID"));
    assertEquals(List.of("2"), replica.query("SELECT COUNT(*) FROM S"));
  }

  /** A hash may be abbreviated to a text that looks like a number. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT CHAR_LENGTH(V), SUBSTRING(V, 1, 2), V || ID, UPPER(V) FROM S",
        "SELECT V, N FROM S JOIN T ON S.ID = T.ID WHERE N > 1 ORDER BY V, N",
        "SELECT COUNT(*) FROM S WHERE V = ?",
        "SELECT COUNT(*) FROM S WHERE ? = V AND ID = 1",
        "SELECT COUNT(*) FROM S WHERE V IN (?, 'x')",
        "SELECT COUNT(*) FROM S WHERE V LIKE ?",
        "SELECT CASE WHEN N > 1 THEN V END, COALESCE(V, H) FROM S JOIN T ON S.ID = T.ID",
        "SELECT V FROM S UNION SELECT X FROM S",
        "SELECT N || V, CONCAT(V, N), JSON_OBJECT('n': N, 'v': V), COALESCE(?, V) FROM S, T",
        "SELECT LPAD(V, S.ID + 20), NULLIF(V, ?), LISTAGG(V, ',') OVER (ORDER BY N) FROM S, T",
        "SELECT N, V FROM S JOIN T ON S.ID = T.ID UNION SELECT 1, ?",
        "SELECT MAX(V), SUM(N) FROM S, T",
        "SELECT V, SUM(N) FROM S JOIN T ON S.ID = T.ID GROUP BY V HAVING SUM(N) > 1",
        "SELECT * FROM (VALUES(1.5, ?), (2.5, 'x'))",
        "INSERT INTO T(ID, N, H) SELECT ID + 5, ID, V FROM S",
        "INSERT INTO T(ID, N, H) VALUES(9, 1.5, ?), (10, 2.5, 'x')",
        "INSERT INTO T(H, N, ID) VALUES((SELECT V FROM S WHERE ID = 1), 1.5, 9)",
        "UPDATE T SET N = N + 1, H = ? WHERE N > 1",
        "UPDATE T SET H = (SELECT V FROM S WHERE S.ID = 1), N = 5",
        "UPDATE T SET (H, ID) = (SELECT V, T.ID FROM S WHERE S.ID = 1) WHERE ID = 1",
        "MERGE INTO T(ID, N, H) KEY(ID) SELECT ID, 1, V FROM S",
        "MERGE INTO T USING S ON T.H = S.V WHEN NOT MATCHED THEN INSERT(ID, N, H)"
            + " VALUES(S.ID + 9, 1, V)",
        "DELETE FROM T WHERE N > 1 AND H IN (SELECT V FROM S)",
        "CREATE TABLE NEW(N NUMERIC(20, 2), H VARCHAR) AS SELECT ID, V FROM S"
      })
  void textsThatLookLikeNumbersAreTexts(String sql) throws SQLException {
    makeTables();
    if (sql.startsWith("SELECT")) {
      replica.query(sql, parametersOf(sql));
    } else {
      replica.ok(session, sql, parametersOf(sql));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT CAST(V AS NUMERIC(20, 2)) + N FROM S JOIN T ON S.ID = T.ID WHERE S.ID = 2",
        "SELECT COUNT(*) FROM S JOIN T ON V = N AND S.ID = 2",
        "INSERT INTO T(ID, N) SELECT 7, V FROM S WHERE ID = 2",
        "UPDATE T SET N = '12.5', D = '1e9999' WHERE N = '12'",
        "UPDATE T SET D = D * D",
        "UPDATE T SET N = 5 WHERE FALSE",
        "SELECT DISTINCT N FROM T WHERE N <> NULL",
        "CREATE TABLE NEW(N NUMERIC(20, 2)) AS SELECT V FROM S WHERE ID = 2"
      })
  void numbersAreNumbers(String sql) throws SQLException {
    makeTables();
    if (sql.startsWith("SELECT")) {
      replica.query(sql);
    } else {
      replica.ok(session, sql);
    }
  }

  @Test
  void definedColumnsGetNoLongNumbers() {
    makeTables();
    refused("CREATE TABLE NEW(N NUMERIC(20, 2)) AS SELECT V FROM S");
    refused("CREATE TABLE NEW(N DECFLOAT) AS SELECT ?", TOO_LONG);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ALTER TABLE S ALTER COLUMN V SET DATA TYPE NUMERIC(20, 2)",
        "ALTER TABLE S ALTER COLUMN V DECFLOAT",
        "ALTER TABLE S ALTER COLUMN V SET DATA TYPE D",
        "ALTER TABLE S ALTER COLUMN A SET DATA TYPE NUMERIC(20, 2) ARRAY"
      })
  void columnOfTextsBecomesOneOfNumbers(String sql) {
    makeTables();
    refused(sql);
    replica.ok(session, "DELETE FROM S WHERE ID = 1");
    replica.ok(session, "DROP VIEW W");
    replica.ok(session, sql);
  }

  @Test
  void columnOfManyDigitsStaysOneOfTexts() {
    replica.ok(session, "CREATE TABLE L(ID INT PRIMARY KEY, V VARCHAR)");
    String digits = "7".repeat(Limits.NUMBER_LENGTH);
    replica.ok(session, "INSERT INTO L SELECT X, ? FROM SYSTEM_RANGE(1, 60)", digits);
    Outcome.SqlFailed failed =
        assertInstanceOf(
            Outcome.SqlFailed.class,
            replica.run(session, "ALTER TABLE L ALTER COLUMN V SET DATA TYPE DECFLOAT"));
    assertTrue(failed.message().contains("column V have so many digits"), failed.message());
  }

  /** What is computed for each row by a rule of the table. */
  @Test
  void rulesOfATableAreGuarded() {
    makeTables();
    replica.ok(
        session,
        "CREATE TABLE R(ID INT PRIMARY KEY, V VARCHAR,"
            + " N NUMERIC(20, 2) GENERATED ALWAYS AS (V))");
    refused("INSERT INTO R(ID, V) VALUES(1, ?)", TOO_LONG);
    refused("INSERT INTO R(ID, V) SELECT ID, V FROM S");
    replica.ok(session, "INSERT INTO R(ID, V) VALUES(1, '5')");
    refused("UPDATE R SET V = ?", TOO_LONG);
    replica.ok(
        session,
        "CREATE TABLE C(V VARCHAR CHECK (CAST(V AS NUMERIC(20, 2)) > 1 AND LENGTH(V) < 20))");
    refused("INSERT INTO C VALUES(?)", TOO_LONG + "000");
    replica.ok(session, "INSERT INTO C VALUES('5')");
  }

  /** What no snapshot could hold. */
  @Test
  void decfloatDoesNotGrowWithoutEnd() throws SQLException {
    makeTables();
    replica.ok(session, "UPDATE T SET D = ?", "1e9999");
    String square = "UPDATE T SET D = D * D";
    replica.ok(session, square);
    replica.ok(session, square);
    replica.ok(session, square);
    Outcome.SqlFailed failed =
        assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, square));
    assertEquals("54001", failed.sqlState(), failed.message());
    assertTrue(failed.message().contains("DECFLOAT"), failed.message());
    assertEquals(List.of("1E+79992"), replica.query("SELECT D FROM T WHERE ID = 1"));
    SQLException ended =
        assertThrows(
            SQLException.class,
            () ->
                replica.query(
                    "WITH RECURSIVE R(I, D) AS (SELECT 1, CAST(10 AS DECFLOAT) UNION ALL"
                        + " SELECT I + 1, D * D FROM R WHERE I < 40) SELECT MAX(D) FROM R"));
    assertEquals("54001", ended.getSQLState(), ended.getMessage());
  }

  @Test
  void manyDigitsAreCharged() throws SQLException {
    makeTables();
    String digits = "7".repeat(Limits.NUMBER_LENGTH);
    replica.ok(session, "CREATE TABLE L(ID INT PRIMARY KEY, V VARCHAR)");
    replica.ok(session, "INSERT INTO L SELECT X, ? FROM SYSTEM_RANGE(1, 200)", digits);
    replica.ok(session, "UPDATE L SET ID = ID + 1000 WHERE ID < 5 AND CAST(V AS DECFLOAT) > 1");
    Outcome.SqlFailed failed =
        assertInstanceOf(
            Outcome.SqlFailed.class,
            replica.run(session, "UPDATE L SET ID = ID + 1000 WHERE CAST(V AS DECFLOAT) > 1"));
    assertEquals("54001", failed.sqlState(), failed.message());
    refused("DELETE FROM L WHERE CAST(V || '1' AS DECFLOAT) > 1");
  }

  /** As clients write them: H2 would make numbers of these while it reads the statement. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT COUNT(*) FROM T WHERE N = '1e2000000'",
        "SELECT CAST('1e2000000' AS NUMERIC(20, 2))",
        "SELECT 1.5 + '1e2000000'",
        "UPDATE T SET ID = 5 WHERE N IN ('1e2000000', '1')",
        "UPDATE T SET N = '1e2000000'",
        "INSERT INTO T(ID, N) VALUES(5, '1e2000000')",
        "SELECT N FROM T UNION SELECT '1e2000000'",
        "CREATE TABLE NEW AS SELECT COALESCE(N, '1e2000000') C FROM T WHERE N = '1e2000000'"
      })
  void literalsAreGuarded(String sql) {
    makeTables();
    String state = new Planned(replica).run(sql);
    assertTrue(state.equals("54001") || state.startsWith("refused: "), state);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT COUNT(*) FROM S WHERE V = '1e2000000'",
        "SELECT CASE WHEN ID = 1 THEN '1e2000000' ELSE V END FROM S",
        "UPDATE S SET X = '1e2000000' WHERE V IN ('1e2000000', '1e2000001')",
        "INSERT INTO T(ID, N, H) VALUES(5, 1.5, '1e2000000')",
        "DELETE FROM S WHERE V = '1e2000000' OR '1e2000000' = X",
        "CREATE VIEW E AS SELECT ID FROM S WHERE V = '1e2000000'",
        "MERGE INTO T USING S ON T.H = '1e2000000' WHEN NOT MATCHED THEN INSERT(ID, H)"
            + " VALUES(S.ID + 9, '1e2000000')"
      })
  void literalsThatLookLikeNumbersAreTexts(String sql) {
    makeTables();
    assertEquals(Planned.OK, new Planned(replica).run(sql));
  }

  @Test
  void arrayThatIsAParameterIsChecked() {
    makeTables();
    Value[] texts = {ValueVarchar.get("12"), ValueVarchar.get(TOO_LONG)};
    refused("DELETE FROM T WHERE N = ANY(?)", ValueArray.get(texts, null));
    refused("UPDATE T SET NS = ?", ValueArray.get(texts, null));
  }

  @ParameterizedTest
  @CsvSource({
    "'', 0",
    "x, 0",
    "1x, 0",
    "1e, 0",
    "1e+, 0",
    "1e5x, 0",
    "1.2.3, 0",
    "e5, 0",
    "., 0",
    "-, 0",
    "' 12 ', 2",
    "-1.25, 3",
    "+.5, 1",
    "1e12, 12",
    "1E-12, 12",
    "1234e+2, 4",
    "1e0000000009, 9",
    "1e2147483648, 10001",
    "1e9999999999999999999, 10001",
    "\u0661\u0662, 2"
  })
  void length(String text, int expected) {
    assertEquals(expected, NumberText.length(text));
  }

  private void refused(String sql, Object... parameters) {
    Outcome outcome = replica.run(session, sql, parameters);
    Outcome.SqlFailed failed = assertInstanceOf(Outcome.SqlFailed.class, outcome, sql);
    assertRefused(failed.sqlState(), failed.message());
  }

  private static void assertRefused(String state, String message) {
    assertEquals("54001", state, message);
    assertTrue(message.contains("more than " + Limits.NUMBER_LENGTH + " digits"), message);
  }
}
