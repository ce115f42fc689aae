package dev.tollgate.sql;

import static dev.tollgate.sql.Refusal.assertRefused;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.tollgate.sql.SqlRefused.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What could take for ever on the thread that applies the log is refused in writes. */
class CostRulesTest {

  private final SqlFrontend frontend = new SqlFrontend(0);

  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '`',
      textBlock =
          """
          UPDATE t SET a = 1 WHERE b REGEXP 'x'            → 26 → REGEXP is not allowed in a statement that writes: a regular expression can be made to take for ever
          UPDATE t SET a = 1 WHERE b NOT REGEXP 'x'        → 26 → write LIKE
          DELETE FROM t WHERE REGEXP_LIKE(b, 'x')          → 21 → function REGEXP_LIKE is not allowed in a statement that writes: a regular expression can
          INSERT INTO t SELECT REGEXP_REPLACE(a, 'b', 'c') FROM s → 22 → write LIKE
          CREATE VIEW v AS SELECT REGEXP_SUBSTR(a, 'b') FROM s → 25 → every replica with it
          CREATE TABLE t (a VARCHAR CHECK (a REGEXP 'x'))  → 33 → REGEXP is not allowed
          SELECT a FROM t WHERE a REGEXP 'x' FOR UPDATE    → 23 → REGEXP is not allowed
          UPDATE t SET a = EXPAND(b)                       → 18 → expand to gigabytes
          """)
  void whatMayTakeForEverIsRefusedInWrites(String sql, int column, String sentence) {
    assertRefused(sql, Reason.NOT_ALLOWED, column, sentence);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT 'abc' LIKE '%b%', 'abc' REGEXP 'b+', REGEXP_REPLACE('abc', 'b', 'x')",
        "SELECT ? LIKE '%a%a%a%a%b', REPEAT('a', 99) LIKE ?, a LIKE REPEAT('%a', 9) FROM t",
        "SELECT a REGEXP 'x', REGEXP_REPLACE(a, 'b', 'c') FROM t WHERE a LIKE '%a%a%a%a%a'",
        "SELECT EXPAND(a), HASH('SHA-256', a, 1000000) FROM SYSTEM_RANGE(1, 99999999999)",
        "SELECT LOCATE('b', 'abc'), POSITION('b' IN 'abc'), REPLACE(RANDOM_UUID(), '-', '')",
        "SELECT REPLACE(CAST(CURRENT_TIMESTAMP AS VARCHAR), ':', ''), LOCATE(REPEAT('a', 9), a)"
            + " FROM t",
        "SELECT LOCATE(?, REPEAT('a', 99999)), TRANSLATE(UPPER('abc'), 'abc', 'xyz')",
        "DELETE FROM t WHERE a LIKE '%a%b%c%'",
        "DELETE FROM t WHERE a LIKE '%%%a%%b%c%%'",
        "DELETE FROM t WHERE a LIKE '%a\\%b\\%c\\%d%'",
        "DELETE FROM t WHERE a LIKE '%a!%b!%c!%d%' ESCAPE '!'",
        "DELETE FROM t WHERE a LIKE ?",
        "UPDATE t SET a = HASH('SHA-256', b), c = HASH('SHA-256', b, 1000)",
        "INSERT INTO t SELECT x FROM SYSTEM_RANGE(1, 1000000)",
        "INSERT INTO t SELECT x FROM SYSTEM_RANGE(1, 99999999, 10)",
        "INSERT INTO t SELECT x FROM SYSTEM_RANGE(1, ?)"
      })
  void whatIsCheapOrRunsOnOneNodeIsAllowed(String sql) {
    assertNotNull(frontend.plan(sql));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '`',
      textBlock =
          """
          CREATE TABLE t (a CHAR(1048577))                     → 24 → CHAR(n) has at most 1048576
          CREATE TABLE t (a CHAR(2 M))                         → 24 → every value is filled up
          CREATE TABLE t (a BINARY(999999999))               → 26 → write VARCHAR or VARBINARY
          SELECT CAST(a AS NATIONAL CHARACTER(9999999)) FROM t → 37 → has at most
          SELECT a::NCHAR(9999999) FROM t                      → 17 → has at most
          SELECT CAST(a AS BINARY(9999999) ARRAY) FROM t       → 25 → has at most
          CREATE DOMAIN d AS CHAR(9999999)                     → 25 → has at most
          ALTER TABLE t ALTER COLUMN a SET DATA TYPE CHAR(9999999) → 49 → has at most
          """)
  void typeThatFillsGigabytesIsRefused(String sql, int column, String sentence) {
    assertRefused(sql, Reason.NOT_ALLOWED, column, sentence);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT a::CHAR",
        "ALTER TABLE t ALTER COLUMN a BINARY",
        "CREATE TABLE t (a CHAR(1048576), b BINARY(16), c CHAR, d BINARY, e CHARACTER(10"
            + " CHARACTERS))",
        "CREATE TABLE t (a CHARACTER VARYING(9999999), b BINARY VARYING(9999999), c"
            + " VARCHAR(9999999))",
        "CREATE TABLE t (a CHARACTER LARGE OBJECT(9999999), b BINARY LARGE OBJECT(2 G))",
        "CREATE TABLE t (a NATIONAL CHARACTER VARYING(9999999), b INT, c DECIMAL(10, 2))"
      })
  void typeThatGrowsWithItsValuesIsAllowed(String sql) {
    assertNotNull(frontend.plan(sql));
  }

  /** H2 computes {@code MOD(1E100000000, 3)} for ever, and runs out of memory over others. */
  @ParameterizedTest
  @ValueSource(
      strings = {"1E1001", "1e-1001", "1E99999999999999", "1.5E+1001", "9E-000000000000001"})
  void hugeExponentIsRefused(String number) {
    assertRefused("SELECT 1, " + number, Reason.TOO_LONG, 11, "a number has at most 1000 digits");
  }

  @Test
  void hugeNumberIsRefused() {
    assertRefused("SELECT " + "1".repeat(1_001), Reason.TOO_LONG, 8, "at most 1000 digits");
    assertNotNull(frontend.plan("SELECT " + "1".repeat(1_000) + ", 1E1000, 1E-307, 1.5e+010"));
  }
}
