package dev.tollgate.sql;

import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import java.util.List;

/**
 * The form of a statement: its text without values and comments, so that operators may see it.
 * Every literal is a {@code ?}. Statements that differ in values and spaces alone have one form.
 */
final class StatementForm {
  /** Characters of a statement that are read; the rest is left out. */
  static final int READ_CHARS = 2_000;

  /** Characters of a form; the rest is left out. */
  static final int MOST_CHARS = 1_000;

  private static final String VALUE = "?";
  private static final String REST = " ...";
  private static final String OPERATORS = "()[],.;:=<>!+-*/%|&^~?";

  private StatementForm() {}

  /**
   * Returns the form of a statement that the front-end has planned. Of any other text it returns
   * what precedes the first error. Takes some tens of microseconds, because it reads only the
   * start.
   */
  static String of(String sql) {
    boolean cut = sql.length() > READ_CHARS;
    List<Token> tokens = Tokens.beforeError(cut ? sql.substring(0, READ_CHARS) : sql);
    StringBuilder form = new StringBuilder();
    String previous = "";
    for (Token token : tokens) {
      String word = shown(token);
      form.append(isApart(previous, word) ? " " : "").append(word);
      if (form.length() > MOST_CHARS) {
        form.setLength(MOST_CHARS);
        cut = true;
        break;
      }
      previous = word;
    }
    return cut ? form + REST : form.toString();
  }

  /** Whether a token is a literal or a parameter. */
  static boolean isValue(Token token) {
    return shown(token).equals(VALUE);
  }

  /** What is not known to be a word, a name or an operator is a value. */
  static String shown(Token token) {
    String image = token.image;
    return switch (token.kind) {
      case TollgateParserConstants.EOF, TollgateParserConstants.SEMICOLON -> "";
      case TollgateParserConstants.QUOTED_IDENTIFIER,
          TollgateParserConstants.UNICODE_QUOTED_IDENTIFIER ->
          image;
      default -> isWord(image) || isOperator(image) ? image : VALUE;
    };
  }

  private static boolean isWord(String image) {
    return Character.isJavaIdentifierStart(image.charAt(0))
        && image.chars().allMatch(Character::isJavaIdentifierPart);
  }

  private static boolean isOperator(String image) {
    return image.chars().allMatch(character -> OPERATORS.indexOf(character) >= 0);
  }

  private static boolean isApart(String previous, String next) {
    return !previous.isEmpty()
        && !next.isEmpty()
        && !List.of("(", "[", ".").contains(previous)
        && !List.of("(", ")", "[", "]", ",", ".").contains(next);
  }
}
