package dev.tollgate.sql;

import dev.tollgate.sql.SqlRefused.Reason;
import dev.tollgate.sql.parser.Token;
import org.apache.calcite.sql.parser.SqlParserPos;

/** Builds refusals that carry the position of the refused text. */
final class Refusals {

  private static final int EXCERPT_LENGTH = 40;
  private static final int SENTENCE_LENGTH = 300;

  private Refusals() {}

  /**
   * Returns the beginning of a token for a message: the token may be a string of a million
   * characters.
   */
  static String excerpt(Token token) {
    return cut(token.image, EXCERPT_LENGTH);
  }

  /** Shortens a message of other code, which may contain the whole statement. */
  static String shortened(String sentence) {
    return cut(sentence, SENTENCE_LENGTH);
  }

  private static String cut(String text, int length) {
    return text.length() <= length ? text : text.substring(0, length) + "...";
  }

  /** Returns the end of a message: the reason, and what to write instead if there is something. */
  static String explanation(String reason, String instead) {
    return instead.isEmpty() ? reason : reason + "; " + instead;
  }

  static SqlRefused syntax(Token token, String sentence) {
    return new SqlRefused(Reason.SYNTAX, token.beginLine, token.beginColumn, sentence);
  }

  static SqlRefused syntax(SqlParserPos position, String sentence) {
    return refused(Reason.SYNTAX, position, sentence);
  }

  static SqlRefused notAllowed(Token token, String sentence) {
    return new SqlRefused(Reason.NOT_ALLOWED, token.beginLine, token.beginColumn, sentence);
  }

  static SqlRefused notAllowed(SqlParserPos position, String sentence) {
    return refused(Reason.NOT_ALLOWED, position, sentence);
  }

  static SqlRefused notSupported(Token token, String sentence) {
    return new SqlRefused(Reason.NOT_SUPPORTED, token.beginLine, token.beginColumn, sentence);
  }

  static SqlRefused notSupported(SqlParserPos position, String sentence) {
    return refused(Reason.NOT_SUPPORTED, position, sentence);
  }

  static SqlRefused tooLong(Token token, String sentence) {
    return new SqlRefused(Reason.TOO_LONG, token.beginLine, token.beginColumn, sentence);
  }

  static SqlRefused tooLong(SqlParserPos position, String sentence) {
    return refused(Reason.TOO_LONG, position, sentence);
  }

  private static SqlRefused refused(Reason reason, SqlParserPos position, String sentence) {
    return new SqlRefused(reason, position.getLineNum(), position.getColumnNum(), sentence);
  }
}
