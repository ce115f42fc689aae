package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text of a script, cut at semicolons that stand outside quotes and comments. Knows strings,
 * E-strings of PostgreSQL with backslashes, quoted names, backquotes, dollar quotes with and
 * without a tag, and comments. A comment within a comment is rejected, because databases differ in
 * where the outer one ends.
 */
final class SqlText {
  private static final Pattern DOLLAR = Pattern.compile("\\$([\\p{L}_][\\p{L}\\p{N}_]*)?\\$");

  private final String script;
  private final String text;
  private final List<SqlStatement> statements = new ArrayList<>();

  /** Where the statement begins that is being read, or -1 before its first character. */
  private int start = -1;

  /** How many characters were counted, and in which line the next one stands. */
  private int counted;

  private int lines = 1;

  private SqlText(String script, String text) {
    this.script = requireNonNull(script, "script");
    this.text = requireNonNull(text, "text");
  }

  /**
   * Cuts a script into its statements, without comments before and behind them.
   *
   * @param script what messages call the script
   */
  static List<SqlStatement> split(String script, String text) throws MigrationException {
    return new SqlText(script, text).split();
  }

  /** The text from its first word on. */
  static String withoutLeadingComments(String sql) {
    return sql.substring(startOfWord(sql, 0));
  }

  /** The first words in upper case, at most so many: between them stand spaces and comments. */
  static List<String> firstWords(String sql, int most) {
    List<String> words = new ArrayList<>();
    int at = startOfWord(sql, 0);
    while (at < sql.length() && words.size() < most) {
      int end = at + 1;
      while (end < sql.length()
          && !Character.isWhitespace(sql.charAt(end))
          && endOfComment(sql, end).isEmpty()) {
        end++;
      }
      words.add(sql.substring(at, end).toUpperCase(Locale.ROOT));
      at = startOfWord(sql, end);
    }
    return words;
  }

  /** Skips spaces and comments. */
  private static int startOfWord(String sql, int from) {
    int at = from;
    while (at < sql.length()) {
      Optional<Integer> end = endOfComment(sql, at);
      if (end.isPresent() && end.get() > 0) {
        at = end.get();
      } else if (Character.isWhitespace(sql.charAt(at))) {
        at++;
      } else {
        break;
      }
    }
    return at;
  }

  private List<SqlStatement> split() throws MigrationException {
    int at = 0;
    int end = 0;
    while (at < text.length()) {
      char c = text.charAt(at);
      Optional<Integer> comment = endOfComment(text, at);
      if (comment.isPresent()) {
        at = endOfComment(at, comment.get());
      } else if (c == ';') {
        add(end);
        at++;
      } else if (Character.isWhitespace(c)) {
        at++;
      } else {
        start = start < 0 ? at : start;
        at = endOfToken(at);
        end = at;
      }
    }
    add(end);
    return statements;
  }

  private int endOfComment(int at, int end) throws MigrationException {
    if (end < 0) {
      throw unfinished("comment", at);
    }
    if (text.startsWith("/*", at) && text.substring(at + 2, end).contains("/*")) {
      throw new MigrationException(
          MigrationException.Reason.INPUT,
          script + ":" + line(at) + ": a comment begins within the comment that begins here");
    }
    return end;
  }

  private void add(int end) {
    if (start >= 0) {
      statements.add(new SqlStatement(line(start), text.substring(start, end)));
    }
    start = -1;
  }

  /** Counts on from where it was asked last, so that reading a script takes time in its length. */
  private int line(int at) {
    if (at < counted) {
      counted = 0;
      lines = 1;
    }
    for (; counted < at; counted++) {
      if (text.charAt(counted) == '\n') {
        lines++;
      }
    }
    return lines;
  }

  private MigrationException unfinished(String what, int at) {
    return new MigrationException(
        MigrationException.Reason.INPUT,
        script + ":" + line(at) + ": the " + what + " that begins here does not end");
  }

  private int endOfToken(int at) throws MigrationException {
    char c = text.charAt(at);
    boolean insideWord = at > 0 && Character.isJavaIdentifierPart(text.charAt(at - 1));
    if (c == '\'') {
      return endOfQuote(at, "string", insideWord && isEscapePrefix(at - 1));
    }
    if (c == '"' || c == '`') {
      return endOfQuote(at, "quoted name", false);
    }
    if (c == '$' && !insideWord) {
      Matcher quote = DOLLAR.matcher(text).region(at, text.length());
      if (quote.lookingAt()) {
        int end = text.indexOf(quote.group(), quote.end());
        if (end < 0) {
          throw unfinished("dollar quote", at);
        }
        return end + quote.group().length();
      }
    }
    return at + 1;
  }

  /** True for the E of E'...', which stands alone before the quote. */
  private boolean isEscapePrefix(int at) {
    char c = text.charAt(at);
    return (c == 'E' || c == 'e')
        && (at == 0 || !Character.isJavaIdentifierPart(text.charAt(at - 1)));
  }

  /** A doubled quote within is read as two quotes that stand side by side. */
  private int endOfQuote(int at, String what, boolean backslashes) throws MigrationException {
    char quote = text.charAt(at);
    for (int i = at + 1; i < text.length(); i++) {
      if (backslashes && text.charAt(i) == '\\') {
        i++;
      } else if (text.charAt(i) == quote) {
        return i + 1;
      }
    }
    throw unfinished(what, at);
  }

  /** Where the comment ends that begins here; -1 if it does not end, empty if none begins. */
  private static Optional<Integer> endOfComment(String text, int at) {
    if (text.startsWith("--", at)) {
      int end = text.indexOf('\n', at);
      return Optional.of(end < 0 ? text.length() : end + 1);
    }
    if (text.startsWith("/*", at)) {
      int end = text.indexOf("*/", at + 2);
      return Optional.of(end < 0 ? -1 : end + 2);
    }
    return Optional.empty();
  }
}
