package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.sql.SqlRefused.Reason;

/** What a test expects of a refusal. */
final class Refusal {

  private Refusal() {}

  /** Plans {@code sql}, and expects it to be refused on line 1. */
  static void assertRefused(String sql, Reason reason, int column, String sentence) {
    assertRefused(sql, reason, 1, column, sentence);
  }

  static void assertRefused(String sql, Reason reason, int line, int column, String sentence) {
    SqlFrontend frontend = new SqlFrontend(0);
    SqlRefused refused = assertThrows(SqlRefused.class, () -> frontend.plan(sql), sql);
    String message = String.valueOf(refused.getMessage());
    assertAll(
        sql,
        () -> assertEquals(reason, refused.reason(), message),
        () -> assertEquals(line + ":" + column, refused.line() + ":" + refused.column(), message),
        () -> assertTrue(message.startsWith("line " + line + ", column " + column + ": "), message),
        () -> assertTrue(message.contains(sentence), message));
  }
}
