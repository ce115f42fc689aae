package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a write reads can be run before the write. */
class ReadPartTest {
  private final SqlFrontend frontend = new SqlFrontend(0);

  private Plan.Write write(String sql) {
    return (Plan.Write) frontend.plan(sql);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "DELETE FROM T WHERE A = ?|SELECT 1 FROM T WHERE A = ?|1",
        "DELETE FROM S.T AS X WHERE X.A IN (SELECT 1) FENCED BY LOCK 'l' TOKEN ?|"
            + "SELECT 1 FROM S . T AS X WHERE X . A IN (SELECT 1)|0",
        "UPDATE T SET A = A + ?, B = DEFAULT, (C, D) = (SELECT 1, ?) WHERE E = ?|"
            + "SELECT 1 , A + ?, NULL, (SELECT 1, ?) FROM T WHERE E = ?|3",
        "UPDATE T X SET A = CASE WHEN B = 1 THEN 2 END|"
            + "SELECT 1 , CASE WHEN B = 1 THEN 2 END FROM T X|0",
        "UPDATE T SET A = ? WHERE B = ? LOCKED BY ?|SELECT 1 , ? FROM T WHERE B = ?|2",
        "INSERT INTO T VALUES (?, DEFAULT), (1, 'a''b')|VALUES (?, NULL), (1, 'a''b')|1",
        "INSERT INTO T(A, B) SELECT X, ? FROM SYSTEM_RANGE(1, ?)|"
            + "SELECT X, ? FROM SYSTEM_RANGE(1, ?)|2",
        "INSERT INTO T(A) (SELECT 1) UNION (SELECT 2)|(SELECT 1) UNION (SELECT 2)|0",
        "INSERT INTO T WITH C(A) AS (SELECT 1) SELECT A FROM C|"
            + "WITH C(A) AS (SELECT 1) SELECT A FROM C|0",
        "MERGE INTO T KEY(A) VALUES (?, 2)|VALUES (?, 2)|1",
        "MERGE INTO T USING (SELECT ? AS A) S ON T.A = S.A AND T.B = ? WHEN MATCHED THEN UPDATE SET B"
            + " = ?|"
            + "SELECT 1 FROM T RIGHT JOIN (SELECT ? AS A) S ON T . A = S . A AND T . B = ?|2",
        "CREATE TABLE T AS SELECT X FROM SYSTEM_RANGE(1, 10) WITH NO DATA|"
            + "SELECT X FROM SYSTEM_RANGE(1, 10)|0",
        "CREATE VIEW V AS SELECT A FROM T|SELECT A FROM T|0",
        "SELECT A FROM T WHERE B = ? FOR UPDATE|SELECT A FROM T WHERE B = ?|1",
      })
  void isAQueryOfItsOwn(String write, String read, int parameters) {
    write(write);
    Plan.Read part = SqlFrontend.readPart(write);
    assertNotNull(part);
    assertEquals(((Plan.Read) frontend.plan(read)).sql().replace(" ", ""), spaceless(part));
    assertEquals(parameters, part.sqlParameterCount());
  }

  private static String spaceless(Plan.Read part) {
    return part.sql().replace(" ", "");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO T DEFAULT VALUES",
        "INSERT INTO T SELECT NEXT VALUE FOR Q",
        "INSERT INTO T SELECT acquire_lock('a')",
        "UPDATE T SET A = NEXT VALUE FOR Q",
        "SELECT * FROM FINAL TABLE (INSERT INTO T VALUES (1))",
        "CREATE TABLE T(A INT DEFAULT (SELECT 1))",
        "CREATE DOMAIN D AS INT",
        "ALTER TABLE T ADD COLUMN B INT",
        "TRUNCATE TABLE T",
        "CALL acquire_lock('a', 1)",
        "DROP TABLE T"
      })
  void isMissingWhereNothingIsReadOrTheReadChangesSomething(String sql) {
    assertNull(SqlFrontend.readPart(sql));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "UPDATE T SET A = 1 WHERE B = 'x'|UPDATE T  SET A = 27 /* b */ WHERE B = 'long'|true",
        "DELETE FROM T WHERE A IN (1, 2)|DELETE FROM T WHERE A IN (3, 4, 5, 6)|true",
        "DELETE FROM T WHERE A IN (?, ?)|DELETE FROM T WHERE A IN (?, ?, ?)|true",
        "DELETE FROM T WHERE A IN (1, B, 2)|DELETE FROM T WHERE A IN (1, 2)|false",
        "INSERT INTO T VALUES (1, 2)|INSERT INTO T VALUES (1, 2, 3)|false",
        "DELETE FROM T WHERE A = 1|DELETE FROM T WHERE B = 1|false",
        "DELETE FROM T WHERE A = 1|DELETE FROM T WHERE A < 1|false",
      })
  void literalsDoNotChangeTheShape(String one, String other, boolean same) {
    if (same) {
      assertEquals(write(one).shape().text(), write(other).shape().text());
    } else {
      assertNotEquals(write(one).shape().text(), write(other).shape().text());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "INSERT INTO T SELECT REPEAT('a', 10)|INSERT INTO T SELECT REPEAT('b', 8000)|false",
        "INSERT INTO T SELECT REPEAT('a', 10)|INSERT INTO T SELECT REPEAT('b', 1E9)|false",
        "INSERT INTO T SELECT REPEAT('a', '10')|INSERT INTO T SELECT REPEAT('b', '9999')|false",
        "INSERT INTO T SELECT REPEAT('a', 9)|INSERT INTO T SELECT REPEAT('Σ', 9)|false",
        "INSERT INTO T SELECT REPEAT('8000', 1)|INSERT INTO T SELECT REPEAT('abcd', 8000)|false",
        "DELETE FROM T WHERE A IN (1, 2)|DELETE FROM T WHERE A IN (1, 2, 3, 1, 2, 3)|false",
        "DELETE FROM T WHERE A IN (?, ?)|DELETE FROM T WHERE A IN (?, ?, ?, ?, ?, ?)|false",
        "UPDATE T SET A = 'abcd' WHERE B = 0x40|UPDATE T SET A = 'efghi' WHERE B = 255|true",
        "INSERT INTO T SELECT REPEAT('a', 8000 - 7000)|INSERT INTO T SELECT REPEAT('a', 8000 - 1)|false",
      })
  void sizesOfLiteralsAreCompared(String one, String other, boolean covered) {
    StatementShape tried = write(one).shape();
    StatementShape asked = write(other).shape();
    assertEquals(tried.text(), asked.text());
    assertEquals(covered, tried.literals().covers(asked.literals()));
  }
}
