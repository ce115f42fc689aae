package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.sql.parser.TollgateParserConstants;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** In each place of a name: a word that H2 takes there is taken. */
class WordPlacesTest {
  private static final List<String> PLACES =
      """
          SELECT 1 AS WORD
          SELECT 1 WORD
          SELECT WORD FROM (SELECT 1 AS "WORD") T
          SELECT T.WORD FROM (SELECT 1 AS "WORD") T
          SELECT * FROM T WORD
          SELECT * FROM T AS WORD
          SELECT WORD.A FROM T WORD WHERE WORD.A = 1
          SELECT * FROM T WORD JOIN T U ON WORD.A = U.A
          SELECT * FROM T U JOIN T WORD ON WORD.A = U.A
          SELECT * FROM T U, T WORD
          SELECT * FROM T U LEFT JOIN T WORD ON TRUE ORDER BY 1
          WITH WORD AS (SELECT 1 AS A) SELECT * FROM WORD
          WITH WORD(A) AS (SELECT 1) SELECT A FROM WORD
          WITH X AS (SELECT 1 AS A), WORD AS (SELECT 2 AS A) SELECT * FROM X, WORD
          WITH RECURSIVE WORD(N) AS (SELECT 1 UNION ALL SELECT N+1 FROM WORD WHERE N<3) SELECT * FROM WORD
          WITH X(WORD) AS (SELECT 1) SELECT WORD FROM X
          SELECT * FROM (SELECT 1) X(WORD)
          SELECT * FROM (VALUES (1)) AS WORD(A)
          SELECT * FROM (VALUES (1)) WORD
          SELECT SUM(A) OVER WORD FROM T WINDOW WORD AS (ORDER BY A)
          INSERT INTO "WORD"(WORD) VALUES (1)
          INSERT INTO WORD VALUES (1)
          INSERT INTO WORD SELECT 1
          INSERT INTO PUBLIC.WORD VALUES (1)
          UPDATE WORD SET WORD = 1
          UPDATE WORD SET WORD = WORD + 1 WHERE WORD = 1
          UPDATE T WORD SET WORD.A = 1
          UPDATE T AS WORD SET A = 1
          DELETE FROM WORD
          DELETE FROM T WORD WHERE WORD.A = 1
          DELETE FROM WORD WHERE WORD.WORD = 1
          MERGE INTO T WORD USING T U ON WORD.A = U.A WHEN MATCHED THEN DELETE
          MERGE INTO T X USING T WORD ON WORD.A = X.A WHEN MATCHED THEN UPDATE SET A = 1
          MERGE INTO WORD KEY(WORD) VALUES (1)
          CREATE TABLE X1(WORD INT)
          CREATE TABLE X1(A INT, WORD INT, PRIMARY KEY(WORD))
          CREATE TABLE X1(A INT, CONSTRAINT WORD PRIMARY KEY(A))
          CREATE TABLE X1(A INT, CONSTRAINT WORD CHECK (A > 0))
          CREATE INDEX WORD ON T(A)
          CREATE UNIQUE INDEX WORD ON T(A)
          CREATE VIEW V1 AS SELECT A AS WORD FROM T
          CREATE VIEW V1(WORD) AS SELECT A FROM T
          CREATE SCHEMA WORD
          CREATE SEQUENCE WORD
          CREATE DOMAIN WORD AS INT
          ALTER TABLE T ADD WORD INT
          ALTER TABLE T ADD COLUMN WORD INT
          ALTER TABLE T ADD CONSTRAINT WORD UNIQUE(A)
          ALTER TABLE T ALTER COLUMN A RENAME TO WORD
          ALTER TABLE T RENAME TO WORD
          ALTER TABLE "WORD" DROP COLUMN WORD
          ALTER TABLE WORD ADD X INT
          ALTER TABLE "WORD" ALTER COLUMN WORD SET DEFAULT 1
          ALTER TABLE "WORD" ALTER WORD SET NOT NULL
          DROP TABLE WORD
          DROP TABLE IF EXISTS WORD
          TRUNCATE TABLE WORD
          CREATE TABLE X1(A INT REFERENCES T(A), WORD VARCHAR(10) DEFAULT 'x' NOT NULL)
          CREATE INDEX I1 ON WORD(WORD)
          CREATE INDEX I1 ON "WORD"(WORD DESC)
          COMMENT ON TABLE WORD IS 'x'
          SELECT COUNT(WORD) FROM "WORD"
          SELECT MAX(WORD) AS X FROM "WORD" GROUP BY WORD
          SELECT * FROM "WORD" ORDER BY WORD DESC
          SELECT WORD FROM WORD
          SELECT DISTINCT WORD FROM WORD
          SELECT * FROM WORD WHERE WORD IN (1,2) AND WORD BETWEEN 1 AND 2 OR WORD IS NULL
          SELECT CASE WORD WHEN 1 THEN WORD ELSE WORD END FROM WORD
          SELECT -WORD, WORD*2, WORD||'x' FROM WORD
          SELECT U.* FROM WORD U JOIN WORD V USING (WORD)
          SELECT WORD.* FROM WORD
          SELECT COALESCE(WORD, 1) FROM WORD
          SELECT (WORD) FROM WORD
          SELECT CAST(WORD AS INT) FROM WORD
          SELECT EXISTS(SELECT WORD FROM WORD)
          SELECT A WORD FROM T
          SELECT A AS WORD FROM T
          SELECT A + 1 WORD FROM T
          SELECT COUNT(*) WORD FROM T
          SELECT 'x' WORD FROM T
          SELECT A WORD, A FROM T
          SELECT A FROM T ORDER BY WORD
          SELECT A AS WORD FROM T ORDER BY WORD
          SELECT * FROM T NATURAL JOIN WORD
          SELECT * FROM PUBLIC.WORD
          SELECT PUBLIC.WORD.WORD FROM PUBLIC.WORD
          SELECT WORD FROM WORD LIMIT 1
          SELECT WORD FROM WORD UNION SELECT WORD FROM WORD
          SELECT * FROM WORD FOR UPDATE
          TABLE WORD
          EXPLAIN SELECT WORD FROM WORD
          GRANT SELECT ON WORD TO PUBLIC
          CREATE USER WORD PASSWORD 'x'
          SAVEPOINT WORD
          ROLLBACK TO SAVEPOINT WORD
          RELEASE SAVEPOINT WORD
          INSERT INTO T(A) SELECT WORD FROM WORD
          UPDATE T SET A = (SELECT WORD FROM WORD)
          SELECT NEXT VALUE FOR WORD
          CREATE TABLE X2 AS SELECT A AS WORD FROM T
          CREATE ROLE WORD
          ALTER INDEX WORD RENAME TO X
          DROP SCHEMA WORD
          DROP SEQUENCE WORD
          DROP VIEW WORD
          DROP INDEX WORD"""
          .lines()
          .map(String::trim)
          .toList();

  /** Words that H2 takes as names, in some places by accident, and Tollgate in none, or in few. */
  private static final Set<String> RESERVED =
      Set.of("CHECK", "FENCED", "FOR", "REGEXP", "ROW", "SELECT", "TABLE", "VALUES");

  /** What is refused besides, and why it is. */
  private static final Map<String, Set<String>> REFUSED =
      Map.of(
          // CAST(x AS CHARACTER(10))
          "SELECT * FROM (VALUES (1)) AS WORD(A)",
              Set.of("BIT", "CHARACTER", "LATERAL", "NCHAR", "NCLOB"),
          // f(x) OVER (...)
          "SELECT * FROM (VALUES (1)) WORD", Set.of("OVER"),
          // a - 1 YEAR
          "SELECT A + 1 WORD FROM T", Set.of("MONTH", "YEAR"),
          // everybody
          "CREATE USER WORD PASSWORD 'x'", Set.of("PUBLIC"));

  private final SqlFrontend frontend = new SqlFrontend(0);

  @Test
  void wordsOfH2sGrammarAreTakenWhereH2TakesThem() throws SQLException {
    assertEquals(Set.of(), refused(Stream.concat(PlacedWords.all().stream(), Stream.of("MONTH"))));
  }

  @Test
  @Tag("nightly")
  void allWordsOfTheParserAreTakenWhereH2TakesThem() throws SQLException {
    assertEquals(
        Set.of(),
        refused(
            Arrays.stream(TollgateParserConstants.tokenImage)
                .map(image -> image.replace("\"", ""))
                .filter(word -> word.matches("[A-Z][A-Z0-9_]*"))));
  }

  private Set<String> refused(Stream<String> words) throws SQLException {
    Set<String> refused = new TreeSet<>();
    for (String word : (Iterable<String>) words::iterator) {
      for (String place : PLACES) {
        if (!RESERVED.contains(word)
            && !REFUSED.getOrDefault(place, Set.of()).contains(word)
            && !isTaken(place.replace("WORD", word))
            && isTakenByH2(place, word)) {
          refused.add(place.replace("WORD", word));
        }
      }
    }
    return refused;
  }

  private boolean isTaken(String sql) {
    try {
      frontend.plan(sql);
      return true;
    } catch (SqlRefused e) {
      return false;
    }
  }

  /** Syntax errors alone are told apart: whether H2 finds what is named does not matter. */
  private static boolean isTakenByH2(String place, String word) throws SQLException {
    try (Connection h2 = DriverManager.getConnection("jdbc:h2:mem:");
        Statement statement = h2.createStatement()) {
      statement.execute("CREATE TABLE T(A INT)");
      if (!place.startsWith("CREATE")) {
        statement.execute("CREATE TABLE \"" + word + "\"(\"" + word + "\" INT)");
      }
      statement.execute(place.replace("WORD", word));
      return true;
    } catch (SQLException e) {
      return !e.getSQLState().equals("42000") && !e.getSQLState().equals("42001");
    }
  }
}
