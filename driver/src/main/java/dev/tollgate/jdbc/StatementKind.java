package dev.tollgate.jdbc;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The kind of a statement, as far as its first word tells. A wrong guess costs a round trip or a
 * cache entry, never a wrong result: the node parses the statement.
 */
enum StatementKind {
  /** Returns rows. */
  QUERY,
  /** Returns what the procedure returns. */
  CALL,
  /** Changes rows and returns their count. */
  CHANGE,
  /** Changes tables, or the session; may change what other statements return. */
  DEFINITION,
  /** Only the node knows. */
  UNKNOWN;

  /** The word of the clause LOCKED BY, wherever it stands. */
  private static final Pattern LOCKED = Pattern.compile("\\bLOCKED\\b", Pattern.CASE_INSENSITIVE);

  static StatementKind of(String sql) {
    if (hasOutParameter(sql)) {
      return CALL;
    }
    return switch (firstWord(sql)) {
      case "SELECT", "VALUES", "TABLE", "SHOW", "EXPLAIN" -> QUERY;
      case "CALL" -> CALL;
      case "INSERT", "UPDATE", "DELETE", "MERGE", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE" ->
          CHANGE;
      case "CREATE",
          "DECLARE",
          "ALTER",
          "DROP",
          "TRUNCATE",
          "SET",
          "GRANT",
          "REVOKE",
          "COMMENT",
          "ANALYZE" ->
          DEFINITION;
      default -> UNKNOWN;
    };
  }

  /** Returns true if a statement of this kind may be a definition. */
  boolean mayDefine() {
    return this == DEFINITION || this == UNKNOWN;
  }

  /**
   * Returns true if a statement may be part of a series: it changes rows, and takes no lock for
   * itself.
   */
  static boolean isForSeries(String sql) {
    return switch (firstWord(sql)) {
      case "INSERT", "UPDATE", "DELETE", "MERGE" -> !LOCKED.matcher(sql).find();
      default -> false;
    };
  }

  /** Returns true for a call whose first parameter is what it returns: {@code ?= CALL f()}. */
  static boolean hasOutParameter(String sql) {
    int start = startOfText(sql);
    return start < sql.length() && sql.charAt(start) == '?';
  }

  /** The first word, in upper case; empty if something else comes first. */
  static String firstWord(String sql) {
    return wordAt(sql, startOfText(sql));
  }

  /** Returns true for {@code SET FENCED}. */
  static boolean setsFence(String sql) {
    return secondWordAfterSet(sql).equals("FENCED");
  }

  /** Returns true for {@code SET NOT FENCED}. */
  static boolean endsFence(String sql) {
    return secondWordAfterSet(sql).equals("NOT");
  }

  private static String secondWordAfterSet(String sql) {
    String first = firstWord(sql);
    if (!first.equals("SET")) {
      return "";
    }
    return firstWord(sql.substring(startOfText(sql) + first.length()));
  }

  private static String wordAt(String sql, int start) {
    int end = start;
    while (end < sql.length() && Character.isLetter(sql.charAt(end))) {
      end++;
    }
    return sql.substring(start, end).toUpperCase(Locale.ROOT);
  }

  /** Skips white space, comments and the parentheses around a query. */
  private static int startOfText(String sql) {
    int at = 0;
    while (at < sql.length()) {
      char c = sql.charAt(at);
      int next;
      if (Character.isWhitespace(c) || c == '(') {
        next = at + 1;
      } else if (sql.startsWith("--", at) || sql.startsWith("//", at)) {
        next = after(sql, "\n", at);
      } else if (sql.startsWith("/*", at)) {
        next = after(sql, "*/", at + 2);
      } else {
        return at;
      }
      at = next;
    }
    return at;
  }

  private static int after(String sql, String end, int from) {
    int found = sql.indexOf(end, from);
    return found < 0 ? sql.length() : found + end.length();
  }
}
