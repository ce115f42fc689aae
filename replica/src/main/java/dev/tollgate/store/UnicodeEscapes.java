package dev.tollgate.store;

/**
 * H2 writes what is not ASCII as {@code U&'\00fc'}, in strings and in names; clients send the
 * characters themselves.
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

  /** Copies from a quote to the one that ends it. */
  private void quoted(boolean escaped) {
    char quote = sql.charAt(at++);
    out.append(quote);
    while (sql.charAt(at) != quote || isDoubled(quote)) {
      if (sql.charAt(at) == quote) {
        out.append(quote).append(quote);
        at += 2;
      } else if (escaped && sql.charAt(at) == '\\') {
        escape();
      } else {
        out.append(sql.charAt(at++));
      }
    }
    out.append(quote);
    at++;
  }

  private boolean isDoubled(char quote) {
    return at + 1 < sql.length() && sql.charAt(at + 1) == quote;
  }

  private void escape() {
    at++;
    if (sql.charAt(at) == '\\') {
      out.append('\\');
      at++;
      return;
    }
    int digits = SHORT_DIGITS;
    if (sql.charAt(at) == '+') {
      digits = LONG_DIGITS;
      at++;
    }
    out.appendCodePoint(Integer.parseInt(sql.substring(at, at + digits), 16));
    at += digits;
  }
}
