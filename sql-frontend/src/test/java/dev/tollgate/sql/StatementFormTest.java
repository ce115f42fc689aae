package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The form of a statement shows what was done, and no value. */
class StatementFormTest {
  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      quoteCharacter = '~',
      value = {
        "select  a,b FROM t WHERE id = 17 => select a, b FROM t WHERE id = ?",
        "INSERT INTO t VALUES (1, 'it''s', ?) => INSERT INTO t VALUES(?, ?, ?)",
        "UPDATE \"My T\" SET a = -1.5e3 -- secret => UPDATE \"My T\" SET a = - ?",
        "SELECT /* secret */ COUNT(*) FROM s.t; => SELECT COUNT(*) FROM s.t",
        "SELECT U&'\\0041', N'secret', X'01 02', DATE '2026-01-02' => SELECT ?, ?, ?, DATE ?",
        "SELECT 0xFF, 1_000, 17L, 0b11 => SELECT ?, ?, ?, ?",
        "SELECT acquire_lock('customer-7') => SELECT acquire_lock(?)",
        "CREATE USER bob PASSWORD 'secret' ADMIN => CREATE USER bob PASSWORD ? ADMIN",
        "SELECT a || 'x' FROM t WHERE b <> 'y' AND c IS NULL => SELECT a || ? FROM t WHERE b <> ?"
            + " AND c IS NULL",
        "SELECT 'a' 'b' => SELECT ? ?",
        "SELECT `name` FROM t => SELECT \"NAME\" FROM t",
      })
  void valuesAreLeftOut(String sql, String form) {
    assertEquals(form, StatementForm.of(sql));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT 'secret",
        "SELECT 1 @secret",
        "SELECT \"secret",
        "SELECT E'secret'",
        "SELECT $$secret$$",
        "SELECT /* secret",
        "SELECT {d 'secret'}",
        "SELECT _utf8'secret'",
        "SELECT ä, 'secret'",
        "SELECT 12secret",
      })
  void whatCannotBeReadIsLeftOut(String sql) {
    assertFalse(StatementForm.of(sql).contains("secret"), StatementForm.of(sql));
    assertTrue(StatementForm.of(sql).startsWith("SELECT"), StatementForm.of(sql));
  }

  @Test
  void formsAreShort() {
    String wide = "SELECT " + "column_of_the_table, ".repeat(100) + "x FROM t";
    assertEquals(StatementForm.MOST_CHARS + 4, StatementForm.of(wide).length());
    assertTrue(StatementForm.of(wide).endsWith(" ..."));
    String value = "UPDATE t SET a = '" + "x".repeat(StatementForm.READ_CHARS) + "' WHERE id = 1";
    assertEquals("UPDATE t SET a = ...", StatementForm.of(value));
  }

  /** Wherever a long statement is cut, no part of a value stands there. */
  @Test
  void everyCutIsWithoutValues() {
    String sql =
        "INSERT INTO t(a, b, c) VALUES ('secret''s secret', 4711, U&'secret' UESCAPE '!',"
            + " X'4711', N'secret', 4711.4711e4711, DATE '4711-01-01') /* secret */ -- secret";
    for (int end = 0; end <= sql.length(); end++) {
      String form = StatementForm.of(sql.substring(0, end));
      assertFalse(form.contains("secret") || form.contains("471"), form);
    }
  }

  /** No digit or quote of a value is ever shown, whatever the text. */
  @Test
  void noTextShowsAQuoteOrANumber() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String[] parts = {
      "'", "''", "7", "x", " ", "\"", "`", "/*", "*/", "--", "\n", "U&", "X", "N", "E", "0x"
    };
    for (int i = 0; i < 20_000; i++) {
      StringBuilder sql = new StringBuilder("SELECT ");
      for (int j = random.nextInt(12); j >= 0; j--) {
        sql.append(parts[random.nextInt(parts.length)]);
      }
      String form = StatementForm.of(sql.toString());
      String unnamed = form.replaceAll("\"(?:[^\"]|\"\")*\"", "");
      assertFalse(unnamed.contains("'"), () -> "seed " + seed + ": " + sql + " -> " + form);
      assertFalse(unnamed.matches(".*\\b7.*"), () -> "seed " + seed + ": " + sql + " -> " + form);
    }
  }
}
