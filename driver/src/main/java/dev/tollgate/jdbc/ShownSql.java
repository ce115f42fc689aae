package dev.tollgate.jdbc;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Statements as exceptions show them: exceptions go into logs, and a statement may have a password
 * in it. So a text ends where a password may begin.
 */
final class ShownSql {
  private static final String REST = " (the rest is not shown, because it may be a password)";

  /** White space and comments. */
  private static final String GAP = "(?:\\s++|--[^\\r\\n]*+|//[^\\r\\n]*+|/\\*(?s:.*?)\\*/){1,50}+";

  /** Also in columns and parameters: {@code UPDATE accounts SET db_password = '...'}. */
  private static final Pattern SECRET =
      Pattern.compile(
          "PASSW(?:OR)?D|PASSPHRASE|PWD|SECRET|CREDENTIAL|API_?KEY|IDENTIFIED"
              + GAP
              + "BY|(?:CREATE|ALTER)"
              + GAP
              + "USER\\b|LINKED"
              + GAP
              + "TABLE",
          Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);

  private ShownSql() {}

  /** Returns the part of a statement that is shown; null for null. */
  static @Nullable String of(@Nullable String sql) {
    if (sql == null) {
      return null;
    }
    Matcher secret = SECRET.matcher(sql);
    return secret.find() ? sql.substring(0, secret.end()) + REST : sql;
  }
}
