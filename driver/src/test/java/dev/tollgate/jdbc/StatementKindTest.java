package dev.tollgate.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatementKindTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "select 1                        | QUERY",
        "  (  ( SELECT 1) UNION SELECT 2)| QUERY",
        "VALUES 1                        | QUERY",
        "TABLE T                         | QUERY",
        "explain delete from t           | QUERY",
        "/* x */ -- y                    | UNKNOWN",
        "/* insert */ select 1           | QUERY",
        "/* never closed                 | UNKNOWN",
        "-- only a comment               | UNKNOWN",
        "INSERT INTO T VALUES(1)         | CHANGE",
        "merge into t key(id) values(1)  | CHANGE",
        "update t set a=1                | CHANGE",
        "DELETE FROM T                   | CHANGE",
        "CREATE TABLE T(A INT)           | DEFINITION",
        "set schema x                    | DEFINITION",
        "DECLARE GLOBAL TEMPORARY TABLE T(A INT) | DEFINITION",
        "TRUNCATE TABLE T                | DEFINITION",
        "call f()                        | CALL",
        "? = call f(?)                   | CALL",
        "  ?= CALL f()                   | CALL",
        "WITH X AS (SELECT 1) SELECT 1   | UNKNOWN",
        "SELECTED                        | UNKNOWN",
        "?                               | CALL",
        "~~                              | UNKNOWN",
      })
  void theFirstWordTells(String sql, StatementKind kind) {
    assertEquals(kind, StatementKind.of(sql == null ? "" : sql));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "SET FENCED BY LOCK 'not' TOKEN 1        | true  | false",
        "/* x */ set /* y */ fenced by lock ? token ? | true | false",
        "Set Not Fenced                          | false | true",
        "SET FENCING TOKEN 1 FOR LOCK 'fenced'   | false | false",
        "SET SCHEMA FENCED                       | false | false",
        "UPDATE T SET FENCED = 1                 | false | false",
        "INSERT INTO T VALUES (1) FENCED BY LOCK 'x' TOKEN 1 | false | false",
        "SET                                     | false | false",
      })
  void fenceOfASessionIsKnownByItsStatement(String sql, boolean sets, boolean ends) {
    assertEquals(sets, StatementKind.setsFence(sql));
    assertEquals(ends, StatementKind.endsFence(sql));
  }
}
