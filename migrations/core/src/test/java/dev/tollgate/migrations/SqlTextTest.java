package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SqlTextTest {
  /** A stands for a line break, and each statement of the result for line:text. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '^',
      value = {
        "a; b                        ~ 1:a 1:b",
        "a;Ab;;A;c                   ~ 1:a 2:b 3:c",
        "AA  a A b ;A c              ~ 3:a A b 5:c",
        "'x;y'; b                    ~ 1:'x;y' 1:b",
        "'it''s;'; b                 ~ 1:'it''s;' 1:b",
        "\"x;\"\"y\"; b              ~ 1:\"x;\"\"y\" 1:b",
        "`x;y`; b                    ~ 1:`x;y` 1:b",
        "-- x;y 'A a; b              ~ 2:a 2:b",
        "/* x;Ay ' */ a; b           ~ 2:a 2:b",
        "a /* x; */ b; c             ~ 1:a /* x; */ b 1:c",
        "a; -- the end               ~ 1:a",
        "a -- x; yA b; c             ~ 1:a -- x; yA b 2:c",
        "$$ x; ' $$; b               ~ 1:$$ x; ' $$ 1:b",
        "$f$ x; $$ ; $f$; b          ~ 1:$f$ x; $$ ; $f$ 1:b",
        "a$b; c$d                    ~ 1:a$b 1:c$d",
        "$1; b                       ~ 1:$1 1:b",
        "E'x\\';y'; b                ~ 1:E'x\\';y' 1:b",
        "'x\\'; b                    ~ 1:'x\\' 1:b",
        "namE'x\\'; b                ~ 1:namE'x\\' 1:b",
        "a - -b; c / * d             ~ 1:a - -b 1:c / * d",
      })
  void statementsEndAtSemicolonsOutsideQuotesAndComments(String text, String expected)
      throws MigrationException {
    List<String> statements =
        SqlText.split("s", text.replace('A', '\n'), Dialect.OTHER).stream()
            .map(statement -> statement.line() + ":" + statement.sql().replace('\n', 'A'))
            .toList();
    assertEquals(expected, String.join(" ", statements));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '^',
      value = {
        "AA'x ;              ~ s:3: the string that begins here does not end",
        "A\"x ;              ~ s:2: the quoted name that begins here does not end",
        "A$a$ x $b$ ;        ~ s:2: the dollar quote that begins here does not end",
        "a; /* x             ~ s:1: the comment that begins here does not end",
        "a; /* x /* y */ */  ~ s:1: a comment begins within the comment that begins here",
      })
  void whatDoesNotEndIsNamedWithItsLine(String text, String message) {
    MigrationException wrong =
        assertThrows(
            MigrationException.class,
            () -> SqlText.split("s", text.replace('A', '\n'), Dialect.OTHER));
    assertEquals(message, wrong.getMessage());
    assertEquals(MigrationException.Reason.INPUT, wrong.reason());
  }

  /** A stands for a line feed and R for a carriage return; each statement ends with a bar. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '^',
      value = {
        "MARIADB    ~ v--5; b               ~ v--5|b|",
        "MARIADB    ~ v -- 5; bA; c         ~ v|c|",
        "MARIADB    ~ a # x; yA; c          ~ a|c|",
        "MARIADB    ~ 'it\\'s; x'; b        ~ 'it\\'s; x'|b|",
        "MARIADB    ~ \"x\\\"; y\"; b ~ \"x\\\"; y\"|b|",
        "MARIADB    ~ /*!50001 a; b */; c   ~ /*!50001 a; b */|c|",
        "MARIADB    ~ /*M!100100 a '*/' */; c ~ /*M!100100 a '*/' */|c|",
        "MARIADB    ~ /* a; b */; c         ~ c|",
        "MARIADB    ~ $$; b                 ~ $$|b|",
        "POSTGRESQL ~ v--5; bA              ~ v|",
        "POSTGRESQL ~ a # b; c              ~ a # b|c|",
        "POSTGRESQL ~ -- x; yRa; b          ~ a|b|",
        "POSTGRESQL ~ E'it''s \\'; x'; b    ~ E'it''s \\'; x'|b|",
        "POSTGRESQL ~ E'a''b \\\\'; b       ~ E'a''b \\\\'|b|",
        "POSTGRESQL ~ 'a''b\\'; b           ~ 'a''b\\'|b|",
        "POSTGRESQL ~ a ` b; c              ~ a ` b|c|",
        "POSTGRESQL ~ /*! a; b */; c        ~ c|",
        "TOLLGATE   ~ -- x; yRa; b          ~ a|b|",
        "H2         ~ a // x; yA; b         ~ a|b|",
        "OTHER      ~ a // x; b             ~ a // x|b|",
      })
  void eachServerHasItsStringsAndComments(Dialect dialect, String text, String expected)
      throws MigrationException {
    StringBuilder statements = new StringBuilder();
    String script = text.replace('A', '\n').replace('R', '\r');
    for (SqlStatement statement : SqlText.split("s", script, dialect)) {
      statements.append(statement.sql()).append('|');
    }
    assertEquals(expected, statements.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '^',
      value = {
        "TOLLGATE ~ a;A// x; b    ~ s:2: two slashes begin no comment that all tools know",
        "MARIADB  ~ a;R-- x;Rb;   ~ s:2: a carriage return without a line feed stands in the"
            + " comment",
        "OTHER    ~ a;A-- x;Rb;   ~ s:2: a carriage return without a line feed stands in the"
            + " comment",
        "MARIADB  ~ a; /*! b      ~ s:1: the comment that begins here does not end",
      })
  void whatDatabasesReadInTwoWaysIsRejected(Dialect dialect, String text, String message) {
    String script = text.replace('A', '\n').replace('R', '\r');
    MigrationException wrong =
        assertThrows(MigrationException.class, () -> SqlText.split("s", script, dialect));
    assertTrue(wrong.getMessage().startsWith(message), wrong.getMessage());
  }

  @Test
  void textWithoutAWordHasNoStatement() throws MigrationException {
    assertEquals(List.of(), SqlText.split("s", " ;; -- x\n /* y */ ; \n", Dialect.OTHER));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "begin",
        "START TRANSACTION",
        "commit",
        "/* x */ COMMIT WORK",
        "ROLLBACK",
        "rollback work",
        "SET AUTOCOMMIT TRUE",
        "SET FENCED BY LOCK 'x' TOKEN 1",
        "SET NOT FENCED"
      })
  void transactionsAndTheFenceAreTheRunners(String sql) {
    assertTrue(new SqlStatement(1, sql).belongsToTheRunner());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ROLLBACK TO SAVEPOINT x",
        "ROLLBACK WORK TO SAVEPOINT x",
        "SET SCHEMA x",
        "VALUES 1"
      })
  void otherStatementsAreTheScripts(String sql) {
    assertFalse(new SqlStatement(1, sql).belongsToTheRunner());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE TABLE t(id INT)",
        "ALTER SEQUENCE s\tRESTART WITH 1",
        "/* x */TRUNCATE TABLE t",
        "GRANT/**/LOCK ON 'a' TO ann",
        "set Password 'x'"
      })
  void theseAreDefinitions(String sql) {
    assertTrue(new SqlStatement(1, sql).mayBeDefinition());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "insert INTO t VALUES (1)",
        "/* x */ -- y\nSelect 1",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "(SELECT 1)",
        "SET SCHEMA x",
        "SAVEPOINT s",
        "ROLLBACK TO SAVEPOINT s"
      })
  void otherStatementsAreNoDefinitions(String sql) {
    assertFalse(new SqlStatement(1, sql).mayBeDefinition());
  }

  @ParameterizedTest
  @ValueSource(strings = {"COMMIT/**/WORK", "/* a */ COMMIT -- b", "SET/**/AUTOCOMMIT FALSE"})
  void commentsBetweenWordsHideNothing(String sql) {
    assertTrue(new SqlStatement(1, sql).belongsToTheRunner());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "MARIADB    | REPLACE INTO t VALUES (1)             | ROWS",
        "MARIADB    | LOAD DATA INFILE 'x' INTO TABLE t     | ROWS",
        "MARIADB    | DO SLEEP(1)                           | ROWS",
        "MARIADB    | SET a = 1                             | ROWS",
        "MARIADB    | (SELECT 1) UNION (SELECT 2)           | ROWS",
        "MARIADB    | SELECT(1)                             | ROWS",
        "MARIADB    | CREATE TABLE t(i INT)                 | DEFINITION",
        "MARIADB    | CALL p()                              | OPAQUE",
        "MARIADB    | SET STATEMENT a=1 FOR UPDATE t SET v=1| OPAQUE",
        "MARIADB    | SET PASSWORD = 'x'                    | OPAQUE",
        "MARIADB    | SET GLOBAL a = 1                      | OPAQUE",
        "MARIADB    | EXECUTE p                             | OPAQUE",
        "MARIADB    | LOAD INDEX INTO CACHE t               | OPAQUE",
        "MARIADB    | /*!50003 CREATE TRIGGER t */          | OPAQUE",
        "MARIADB    | SET /*! STATEMENT a=1 FOR */ DROP TABLE t | OPAQUE",
        "MARIADB    | FLURB                                 | OPAQUE",
        "MARIADB    | /* half */ INSERT INTO t VALUES (1)   | ROWS",
        "POSTGRESQL | DO $$ SELECT 1 $$                     | OPAQUE",
        "POSTGRESQL | CALL p()                              | OPAQUE",
        "POSTGRESQL | /*! x */ INSERT INTO t VALUES (1)     | ROWS",
        "TOLLGATE   | CALL acquire_lock('a')                | ROWS",
        "TOLLGATE   | FLURB                                 | DEFINITION",
      })
  void statementsOutsideTheListAreOpaque(
      Dialect dialect, String sql, SqlStatement.Effect expected) {
    assertEquals(expected, SqlStatement.of(sql, dialect).effect());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "MARIADB    | /*!40000 COMMIT */",
        "MARIADB    | SET @a = 1, autocommit = 1",
        "MARIADB    | SET @@session.autocommit=1",
        "MARIADB    | LOCK TABLES t WRITE",
        "MARIADB    | UNLOCK TABLES",
        "MARIADB    | XA START 'x'",
        "POSTGRESQL | PREPARE TRANSACTION 'x'",
      })
  void noCommentAndNoListHidesTheRunners(Dialect dialect, String sql) {
    assertTrue(SqlStatement.of(sql, dialect).belongsToTheRunner());
  }

  @Test
  void commentBeforeACommitHidesNothing() {
    assertTrue(SqlStatement.of("/* half */ COMMIT", Dialect.POSTGRESQL).controlsTransaction());
    assertTrue(SqlStatement.of("# half\nCOMMIT", Dialect.MARIADB).belongsToTheRunner());
    assertTrue(SqlStatement.of("SET a = 1", Dialect.MARIADB).concernsSessionAlone());
    assertFalse(
        SqlStatement.of("SET STATEMENT a=1 FOR DROP TABLE t", Dialect.MARIADB)
            .concernsSessionAlone());
  }
}
