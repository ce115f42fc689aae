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
        SqlText.split("s", text.replace('A', '\n')).stream()
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
        assertThrows(MigrationException.class, () -> SqlText.split("s", text.replace('A', '\n')));
    assertEquals(message, wrong.getMessage());
    assertEquals(MigrationException.Reason.INPUT, wrong.reason());
  }

  @Test
  void textWithoutAWordHasNoStatement() throws MigrationException {
    assertEquals(List.of(), SqlText.split("s", " ;; -- x\n /* y */ ; \n"));
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
}
