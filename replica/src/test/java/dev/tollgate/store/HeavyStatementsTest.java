package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import org.h2.message.DbException;
import org.h2.value.ValueDecfloat;
import org.h2.value.ValueNumeric;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The heaviest writes that are known, each with the SQLState that refuses it. Steps and the limits
 * on single values refuse all of them: none has a class of its own.
 */
class HeavyStatementsTest {
  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @BeforeEach
  void createTables() {
    createTables(replica, session);
  }

  private static void createTables(StoreDriver replica, SessionId session) {
    replica.ok(
        session,
        "CREATE TABLE T(ID BIGINT PRIMARY KEY, S VARCHAR, D DECFLOAT, N NUMERIC(1000),"
            + " G GEOMETRY, J JSON)");
    replica.ok(session, "CREATE TABLE ONE(ID INT PRIMARY KEY, S VARCHAR)");
    replica.ok(session, "INSERT INTO ONE(ID) VALUES(1)");
  }

  @AfterEach
  void close() {
    replica.close();
  }

  /** H2 computes the constants of a definition when it runs it, where nothing is ended. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE TABLE N(A VARCHAR DEFAULT XMLCOMMENT(REPEAT('-', 300000)))",
        "CREATE TABLE N(A VARCHAR, CHECK (A <> XMLCOMMENT(REPEAT('-', 300000))))",
        "CREATE TABLE N(A BIGINT AS (B + LENGTH(HASH('SHA-256', 'x', 2000000))), B INT)",
        "CREATE TABLE N AS SELECT XMLCOMMENT(REPEAT('-', 300000)) S FROM ONE",
        "ALTER TABLE ONE ADD COLUMN A VARCHAR DEFAULT XMLCOMMENT(REPEAT('-', 300000))",
        "ALTER TABLE ONE ALTER COLUMN S SET DEFAULT XMLCOMMENT(REPEAT('-', 300000))",
        "ALTER TABLE ONE ADD CHECK (S <> XMLCOMMENT(REPEAT('-', 300000)))",
        "CREATE DOMAIN N AS VARCHAR DEFAULT XMLCOMMENT(REPEAT('-', 300000))",
        "CREATE DOMAIN N AS VARCHAR CHECK (VALUE <> XMLCOMMENT(REPEAT('-', 300000)))",
        "CREATE VIEW N AS SELECT XMLCOMMENT(REPEAT('-', 300000)) S FROM ONE",
        "CREATE SEQUENCE N START WITH LENGTH(XMLCOMMENT(REPEAT('-', 300000)))",
      })
  void definitionWithADearConstantIsRefused(String sql) throws SQLException {
    assertState("54001", sql);
  }

  /** Each value is computed for 400 rows, with a tenth of the limits. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "LENGTH(REPEAT('x', 1000000 + X))",
        "LENGTH(SPACE(1000000 + X))",
        "LENGTH(UPPER(REPEAT('\u00df', 100000 + X)))",
        "LENGTH(LOWER(REPEAT('\u0130', 100000 + X)))",
        "LENGTH(LOWER(REPEAT('\u03a3', 100000 + X)))",
        "CASE WHEN REPEAT('\u03a3', 100000 + X) ILIKE '%x' THEN 1 END",
        "CASE WHEN CAST(REPEAT('\u03a3', 100000 + X) AS VARCHAR_IGNORECASE) = 'x' THEN 1 END",
        "LENGTH(LOWER(LPAD('x', 1000000 + X, 'ab')))",
        "LENGTH(SUBSTRING(REPEAT('7', 1000000 + X - X), 2))",
        "LENGTH(HASH('SHA-256', REPEAT('x', 1000000 + X)))",
        "LENGTH(HASH('SHA3-512', 'x' || X, 100000))",
        "ORA_HASH(REPEAT('x', 1000000 + X - X), 10, X)",
        "LENGTH(COMPRESS(CAST(REPEAT('7', 1000000 + X - X) AS VARBINARY)))",
        "LENGTH(COMPRESS(CAST(REPEAT('7', 1000000 + X - X) AS VARBINARY), 'DEFLATE l 9'))",
        "LENGTH(ENCRYPT('AES', X'00', CAST(REPEAT('7', 1000000 + X - X) AS VARBINARY)))",
        "LENGTH(XMLCOMMENT(REPEAT('-', 100000 + X)))",
        "LENGTH(XMLTEXT(REPEAT('<', 100000 + X)))",
        "LENGTH(SOUNDEX(REPEAT('a', 100000 + X)))",
        "DIFFERENCE(REPEAT('a', 1000000 + X), 'b')",
        "LENGTH(RAWTOHEX(REPEAT('a', 1000000 + X)))",
        "LENGTH(STRINGENCODE(REPEAT('\u00e4', 100000 + X)))",
        "LENGTH(TRIM(REPEAT(' ', 1000000 + X)))",
        "LENGTH(TO_CHAR(X, REPEAT('9', 1000 + X)))",
        "LENGTH(CAST(X AS CHAR(1000000)))",
        "CARDINALITY(ARRAY[REPEAT('x', 1000000 + X)])",
        "CASE WHEN REPEAT('x', 1000000 + X) > 'y' THEN 1 END",
        "CASE WHEN REPEAT('x', 1000000 + X) IN ('a', 'b') THEN 1 END",
        "CASE WHEN REPEAT('x', 1000000 + X) IS NULL THEN 1 END",
        "MOD(CAST('7E900' AS DECFLOAT(1000)), CAST('7E-900' AS DECFLOAT(1000)) * X)",
        "CASE WHEN GCD(CAST('1E900' AS NUMERIC(1000)) + X, CAST('7E899' AS NUMERIC(1000)) + 2 * X"
            + " + 1) IS NULL THEN 1 END",
        "CASE WHEN REPEAT('a', 300) || X LIKE REPEAT('%a', 12) || '%b' || X THEN 1 END",
        "LOCATE(REPEAT('a', 100000) || 'b', REPEAT('a', 900000 + X))",
        "CASE WHEN ('[' || REPEAT('1e1,', 3000) || X || ']') IS JSON THEN 1 END",
      })
  void valueForEachRowIsEnded(String value) throws SQLException {
    try (StoreDriver tenth = new StoreDriver(TenthOfLimits.database())) {
      SessionId own = tenth.open();
      createTables(tenth, own);
      assertState(
          tenth,
          own,
          "54001",
          "INSERT INTO T(ID) SELECT X + COALESCE(" + value + ", 0) FROM SYSTEM_RANGE(1, 400)");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "INSERT INTO T(ID, N) VALUES(1, ?) ; 7 ; 1001 ; 22003",
        "INSERT INTO T(ID, N) VALUES(1, ?) ; 7 ; 990000 ; 22003",
        "INSERT INTO T(ID, J) VALUES(1, ? FORMAT JSON) ; 7 ; 1001 ; 22018",
        "INSERT INTO T(ID, J) VALUES(1, ? FORMAT JSON) ; 7 ; 10010 ; 22018",
        "UPDATE ONE SET S = 'x' WHERE REPEAT('a', 30000) || ID LIKE ? ; %a_ ; 100000 ; 54001",
        "UPDATE ONE SET ID = LENGTH(TRANSLATE(REPEAT('a', 1000000) || ID, ?, 'x')) ; b ; 700000 ;"
            + " 54001",
        "UPDATE ONE SET ID = LENGTH(TOLLGATE.REPLACE(REPEAT('a', 1000000) || ID, ? || 'b', 'x')) ;"
            + " a ; 10000 ; 54001",
        "DELETE FROM ONE WHERE REPEAT('a', 1000000) || ID LIKE '%' || ? || 'b%' ; a ; 10000 ;"
            + " 54001",
        "DELETE FROM ONE WHERE REPEAT('a', 1000000) || ID ILIKE '%' || ? || 'b%' ; a ; 10000 ;"
            + " 54001",
      })
  void longParameterIsRefused(String sql, String text, int times, String state)
      throws SQLException {
    Object[] values = new Object[(int) sql.chars().filter(c -> c == '?').count()];
    Arrays.fill(values, text.repeat(times));
    assertState(state, sql, values);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "INSERT INTO T(ID, D) VALUES(1, ?) ; 1e500000000 ; 22003",
        "INSERT INTO T(ID, N) VALUES(1, ?) ; 1e500000000 ; 22003",
        "INSERT INTO T(ID, J) VALUES(1, ? FORMAT JSON) ; 1e500000000 ; 22018",
        "INSERT INTO T(ID, D) VALUES(1, CAST(? AS DECFLOAT) * 1e900) ; 1e1900 ; 22003",
        "INSERT INTO T(ID) SELECT X FROM SYSTEM_RANGE(1, 9) WHERE CAST(? AS NUMERIC(9)) = X ;"
            + " 1e2000000 ; 22003",
        "INSERT INTO T(ID, D) VALUES(1, ?) ; 1e2001 ; 22003",
        "INSERT INTO T(ID, D) VALUES(1, ?) ; 1e-2001 ; 22003",
        "INSERT INTO T(ID, N) VALUES(1, CAST(? AS DECFLOAT)) ; 1e1000 ; 22001",
        "INSERT INTO T(ID, J) VALUES(1, ? FORMAT JSON) ; 1e2001 ; 22018",
        "INSERT INTO T(ID, J) VALUES(1, CAST(? AS DECFLOAT) * 10) ; 1e2000 ; 22003",
        "INSERT INTO T(ID, D) SELECT 1, SUM(CAST(? AS DECFLOAT) + X) FROM SYSTEM_RANGE(1, 9) ;"
            + " 1e2000 ; 22003",
        "INSERT INTO T(ID, D) VALUES(1, MOD(CAST(? AS DECFLOAT), 1)) ; 1e99000 ; 22003",
        "INSERT INTO T(ID, S) VALUES(1, TO_CHAR(CAST(? AS NUMERIC(9)), 'V' || REPEAT('9', 2001))) ;"
            + " 7 ; 22003",
      })
  void longNumberIsRefused(String sql, String number, String state) throws SQLException {
    assertState(state, sql, number);
  }

  @ParameterizedTest
  @CsvSource({"1001, 0", "1, 2001", "1, -2001", "1, 100000", "1, -100000"})
  void longNumberBecomesNoValue(int digits, int scale) {
    BigDecimal number =
        new BigDecimal(BigInteger.TEN.pow(digits - 1).add(BigInteger.valueOf(2)), scale);
    assertThrows(DbException.class, () -> ValueNumeric.getAnyScale(number));
    assertThrows(DbException.class, () -> ValueDecfloat.get(number));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "CREATE TABLE X(V NUMERIC(1001)); 90150",
        "CREATE TABLE X(V DECFLOAT(1001)); 90150",
        "CREATE TABLE X(V NUMERIC(1000, 1001)); 90151",
      })
  void longTypeIsRefused(String sql, String state) throws SQLException {
    assertState(state, sql);
  }

  @Test
  void numberAtTheLimitIsStored() throws SQLException {
    String longest = "7".repeat(1000);
    replica.ok(session, "INSERT INTO T(ID, N, D) VALUES(1, ?, ?)", longest, "1e2000");
    replica.ok(session, "INSERT INTO T(ID, D) VALUES(2, ?)", "1e-2000");
    replica.ok(
        session,
        "INSERT INTO T(ID, D, N) VALUES(3, CAST(1e308 AS DOUBLE PRECISION),"
            + " CAST(1e-308 AS DOUBLE PRECISION))");
    assertEquals(List.of(longest), replica.query("SELECT N FROM T WHERE ID = 1"));
    assertEquals(List.of("1E-2000"), replica.query("SELECT D FROM T WHERE ID = 2"));
  }

  @ParameterizedTest
  @CsvSource({"10000, 22018", "33, 22018", "32, ''"})
  void geometryIsNestedAsDeepAsItMay(int depth, String state) throws SQLException {
    String text = "GEOMETRYCOLLECTION(".repeat(depth) + "POINT(1 1)" + ")".repeat(depth);
    assertState(state, "INSERT INTO T(ID, G) VALUES(1, ?)", text);
  }

  private void assertState(String state, String sql, Object... parameters) throws SQLException {
    assertState(replica, session, state, sql, parameters);
  }

  private static void assertState(
      StoreDriver replica, SessionId session, String state, String sql, Object... parameters)
      throws SQLException {
    Outcome outcome = replica.run(session, sql, parameters);
    String found = outcome instanceof Outcome.SqlFailed failed ? failed.sqlState() : "";
    assertEquals(state, found, outcome.toString());
    if (!state.isEmpty()) {
      assertEquals(List.of("0"), replica.query("SELECT COUNT(*) FROM T"));
      assertEquals(List.of("1"), replica.query("SELECT COUNT(*) FROM ONE WHERE ID = 1"));
    }
  }
}
