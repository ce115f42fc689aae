package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a text into tokens where the server of a {@link Dialect} does. Everything that has to know
 * where a statement, a string or a comment begins and ends asks this class.
 */
final class SqlLexer {
  private static final Pattern DOLLAR = Pattern.compile("\\$([\\p{L}_][\\p{L}\\p{N}_]*)?\\$");
  private static final Pattern OPENER = Pattern.compile("/\\*M?!\\d{0,6}");

  /** What a token is. */
  enum Kind {
    SPACE,
    COMMENT,
    /** The begin of a comment whose text is executed. */
    OPENER,
    /** The end of a comment whose text is executed. */
    CLOSER,
    WORD,
    /** A string, or a name in quotes. */
    QUOTED,
    /** Outside comments that are executed. */
    SEMICOLON,
    /** Any other character. */
    SIGN
  }

  private final String text;
  private final Dialect dialect;

  // the token that was read last
  private Kind kind = Kind.SPACE;
  private int start;
  private int end;

  /** Where the executed comment begins in which the token stands, or -1. */
  private int opener = -1;

  /** What begins in the token, or before it, and does not end; null if everything ends. */
  private @Nullable String unfinished;

  SqlLexer(String text, Dialect dialect) {
    this.text = requireNonNull(text, "text");
    this.dialect = requireNonNull(dialect, "dialect");
  }

  /** Reads the next token; returns false at the end of the text. */
  boolean next() {
    start = end;
    if (start >= text.length()) {
      unfinished = opener < 0 ? null : "comment";
      return false;
    }
    char c = text.charAt(start);
    if (opener >= 0 && text.startsWith("*/", start)) {
      opener = -1;
      set(Kind.CLOSER, start + 2);
    } else if (beginsLineComment()) {
      set(Kind.COMMENT, endOfLine());
    } else if (text.startsWith("/*", start)) {
      readComment();
    } else if (Character.isWhitespace(c)) {
      set(Kind.SPACE, start + 1);
    } else if (c == '\'' || c == '"' || (c == '`' && dialect.hasBackquotes())) {
      readQuoted(c);
    } else if (c == '$' && dialect.hasDollarQuotes() && isDollarQuote()) {
      readDollarQuote();
    } else if (Character.isJavaIdentifierPart(c)) {
      readWord();
    } else {
      set(c == ';' && opener < 0 ? Kind.SEMICOLON : Kind.SIGN, start + 1);
    }
    return true;
  }

  private void set(Kind newKind, int newEnd) {
    kind = newKind;
    end = newEnd;
  }

  private boolean beginsLineComment() {
    if (text.startsWith("--", start)) {
      return !dialect.needsSpaceAfterDashes()
          || start + 2 == text.length()
          || Character.isWhitespace(text.charAt(start + 2))
          || Character.isISOControl(text.charAt(start + 2));
    }
    return (dialect.hasHashComments() && text.charAt(start) == '#')
        || (dialect.hasSlashComments() && text.startsWith("//", start));
  }

  private int endOfLine() {
    for (int at = start; at < text.length(); at++) {
      char c = text.charAt(at);
      if (c == '\n' || (c == '\r' && dialect.endsLinesAtReturns())) {
        return at;
      }
    }
    return text.length();
  }

  private void readComment() {
    Matcher executed = OPENER.matcher(text).region(start, text.length());
    if (dialect.executesComments() && opener < 0 && executed.lookingAt()) {
      opener = start;
      set(Kind.OPENER, executed.end());
      return;
    }
    int close = text.indexOf("*/", start + 2);
    unfinished = close < 0 ? "comment" : null;
    set(Kind.COMMENT, close < 0 ? text.length() : close + 2);
  }

  private void readQuoted(char quote) {
    boolean escapes =
        (quote != '`' && dialect.escapesInStrings()) || (quote == '\'' && followsEscapePrefix());
    for (int at = start + 1; at < text.length(); at++) {
      char c = text.charAt(at);
      if (escapes && c == '\\') {
        at++;
      } else if (c == quote) {
        if (at + 1 == text.length() || text.charAt(at + 1) != quote) {
          set(Kind.QUOTED, at + 1);
          return;
        }
        at++;
      }
    }
    unfinished = quote == '\'' ? "string" : "quoted name";
    set(Kind.QUOTED, text.length());
  }

  /** True for the E of E'...', which is the whole word before the quote. */
  private boolean followsEscapePrefix() {
    if (!dialect.hasEscapeStrings() || start == 0) {
      return false;
    }
    char prefix = text.charAt(start - 1);
    return (prefix == 'E' || prefix == 'e')
        && (start == 1 || !Character.isJavaIdentifierPart(text.charAt(start - 2)));
  }

  private boolean isDollarQuote() {
    return DOLLAR.matcher(text).region(start, text.length()).lookingAt();
  }

  private void readDollarQuote() {
    Matcher quote = DOLLAR.matcher(text).region(start, text.length());
    boolean found = quote.lookingAt();
    int close = found ? text.indexOf(quote.group(), quote.end()) : -1;
    unfinished = close < 0 ? "dollar quote" : null;
    set(Kind.QUOTED, close < 0 ? text.length() : close + quote.group().length());
  }

  private void readWord() {
    int at = start + 1;
    while (at < text.length() && Character.isJavaIdentifierPart(text.charAt(at))) {
      at++;
    }
    set(Kind.WORD, at);
  }

  Kind kind() {
    return kind;
  }

  int start() {
    return start;
  }

  int end() {
    return end;
  }

  String token() {
    return text.substring(start, end);
  }

  /** What has begun and does not end, such as a string; null if everything ends. */
  @Nullable String unfinished() {
    return unfinished;
  }

  /** Where that begins. */
  int startOfUnfinished() {
    return opener < 0 ? start : opener;
  }
}
