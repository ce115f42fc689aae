package dev.tollgate.store.transfer;

/**
 * Replaces the Unicode escapes in SQL that H2 has written. H2 writes characters outside ASCII as
 * {@code U&'\00fc'}, in strings and in names; clients send the characters themselves. A string with
 * an unpaired surrogate, which no file can hold, becomes {@code ('a' || CHAR(55357) || 'b')}.
 */
final class UnicodeEscapes {
  private static final int SHORT_DIGITS = 4;
  private static final int LONG_DIGITS = 6;

  private final String sql;
  private final StringBuilder out;
  private int at;

  private UnicodeEscapes(String sql) {
    this.sql = sql;
    this.out = new StringBuilder(sql.length());
  }

  /** The same SQL without escapes. */
  static String resolve(String sql) {
    return sql.contains("U&") ? new UnicodeEscapes(sql).resolve() : sql;
  }

  private String resolve() {
    while (at < sql.length()) {
      char c = sql.charAt(at);
      boolean escaped = sql.startsWith("U&'", at) || sql.startsWith("U&\"", at);
      if (escaped) {
        at += 2;
        quoted(true);
      } else if (c == '\'' || c == '"') {
        quoted(false);
      } else {
        out.append(c);
        at++;
      }
    }
    return out.toString();
  }

  /** Copies from an opening quote to the closing quote. */
  private void quoted(boolean escaped) {
    int start = out.length();
    boolean whole = true;
    char quote = sql.charAt(at++);
    out.append(quote);
    while (sql.charAt(at) != quote || isDoubled(quote)) {
      if (sql.charAt(at) == quote) {
        out.append(quote).append(quote);
        at += 2;
      } else if (escaped && sql.charAt(at) == '\\') {
        whole &= escape(quote);
      } else {
        out.append(sql.charAt(at++));
      }
    }
    out.append(quote);
    at++;
    if (!whole) {
      out.insert(start, '(').append(')');
    }
  }

  private boolean isDoubled(char quote) {
    return at + 1 < sql.length() && sql.charAt(at + 1) == quote;
  }

  /**
   * Resolves an escape; false if it is half of a character in a string, and so becomes an
   * expression.
   */
  private boolean escape(char quote) {
    at++;
    if (sql.charAt(at) == '\\') {
      out.append('\\');
      at++;
      return true;
    }
    int digits = SHORT_DIGITS;
    if (sql.charAt(at) == '+') {
      digits = LONG_DIGITS;
      at++;
    }
    int character = Integer.parseInt(sql.substring(at, at + digits), 16);
    at += digits;
    boolean whole = character < Character.MIN_SURROGATE || character > Character.MAX_SURROGATE;
    if (whole || quote != '\'') {
      out.appendCodePoint(character);
      return true;
    }
    out.append("' || CHAR(").append(character).append(") || '");
    return false;
  }
}
