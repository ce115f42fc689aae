package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The text of a script, cut at semicolons that stand outside quotes and comments. What databases
 * read in different ways is rejected: a comment within a comment, a lone carriage return in a
 * comment of a line, and two slashes, which begin a comment in Tollgate alone.
 */
final class SqlText {
  /** Stands among the words for the @ of user@host, which is no variable. */
  static final String AT_HOST = "@host";

  private static final String OPENER = "/*!";
  private static final String CLOSER = "*/";

  private final String script;
  private final String text;
  private final Dialect dialect;
  private final List<SqlStatement> statements = new ArrayList<>();

  /** Where the statement begins that is being read, or -1 before its first character. */
  private int start = -1;

  /** How many characters were counted, and in which line the next one stands. */
  private int counted;

  private int lines = 1;

  private SqlText(String script, String text, Dialect dialect) {
    this.script = requireNonNull(script, "script");
    this.text = requireNonNull(text, "text");
    this.dialect = requireNonNull(dialect, "dialect");
  }

  /**
   * Cuts a script into its statements, without comments before and behind them.
   *
   * @param script what messages call the script
   */
  static List<SqlStatement> split(String script, String text, Dialect dialect)
      throws MigrationException {
    return new SqlText(script, text, dialect).split();
  }

  /**
   * The first words in upper case, at most so many. Each sign is a word, and so is a string or a
   * name in quotes, as it stands. Comments are none; a comment that is executed begins with the
   * word of {@link #isOpener} and ends with that of {@link #isCloser}.
   */
  static List<String> words(String sql, Dialect dialect, int most) {
    List<String> words = new ArrayList<>();
    SqlLexer lexer = new SqlLexer(sql, dialect);
    boolean afterName = false;
    while (words.size() < most && lexer.next()) {
      switch (lexer.kind()) {
        case SPACE, COMMENT -> {}
        case OPENER -> words.add(OPENER);
        case CLOSER -> words.add(CLOSER);
        case WORD -> words.add(lexer.token().toUpperCase(Locale.ROOT));
        case QUOTED -> words.add(lexer.token());
        case SEMICOLON, SIGN ->
            words.add(afterName && lexer.token().equals("@") ? AT_HOST : lexer.token());
      }
      afterName = lexer.kind() == SqlLexer.Kind.WORD || lexer.kind() == SqlLexer.Kind.QUOTED;
    }
    return words;
  }

  /** The text from its first word on. */
  static String withoutLeadingComments(String sql, Dialect dialect) {
    SqlLexer lexer = new SqlLexer(sql, dialect);
    while (lexer.next()) {
      if (lexer.kind() != SqlLexer.Kind.SPACE && lexer.kind() != SqlLexer.Kind.COMMENT) {
        return sql.substring(lexer.start());
      }
    }
    return "";
  }

  static boolean isOpener(String word) {
    return word.equals(OPENER);
  }

  static boolean isCloser(String word) {
    return word.equals(CLOSER);
  }

  private List<SqlStatement> split() throws MigrationException {
    SqlLexer lexer = new SqlLexer(text, dialect);
    int end = 0;
    while (lexer.next()) {
      if (lexer.unfinished() != null) {
        throw unfinished(lexer);
      }
      switch (lexer.kind()) {
        case SPACE -> {}
        case COMMENT -> checkComment(lexer);
        case SEMICOLON -> add(end);
        default -> {
          start = start < 0 ? lexer.start() : start;
          end = lexer.end();
        }
      }
    }
    if (lexer.unfinished() != null) {
      throw unfinished(lexer);
    }
    add(end);
    return statements;
  }

  private void checkComment(SqlLexer lexer) throws MigrationException {
    String comment = lexer.token();
    if (comment.startsWith("/*")) {
      if (comment.indexOf("/*", 2) >= 0) {
        throw wrong(lexer.start(), "a comment begins within the comment that begins here");
      }
    } else if (comment.startsWith("//") && dialect == Dialect.TOLLGATE) {
      throw wrong(lexer.start(), "two slashes begin no comment that all tools know: write --");
    } else if (comment.stripTrailing().indexOf('\r') >= 0) {
      throw wrong(
          lexer.start(),
          "a carriage return without a line feed stands in the comment that begins here, and does"
              + " not end it in this database: save the file with other line ends");
    }
  }

  private void add(int end) {
    if (start >= 0) {
      String sql = text.substring(start, end);
      statements.add(new SqlStatement(line(start), sql, sql, dialect));
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
      char c = text.charAt(counted);
      if (c == '\n' || (c == '\r' && !text.startsWith("\n", counted + 1))) {
        lines++;
      }
    }
    return lines;
  }

  private MigrationException unfinished(SqlLexer lexer) {
    return wrong(
        lexer.startOfUnfinished(), "the " + lexer.unfinished() + " that begins here does not end");
  }

  private MigrationException wrong(int at, String what) {
    return new MigrationException(
        MigrationException.Reason.INPUT, script + ":" + line(at) + ": " + what);
  }
}
