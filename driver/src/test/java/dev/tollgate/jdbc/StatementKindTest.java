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
}
