package dev.tollgate.sql;

import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * The text for H2, rebuilt from tokens: some of them replaced, those of a fence cut off. Neither
 * the client's text, which H2 might read in another way, nor a tree written out again, which
 * changes some statements.
 */
final class H2Text {

  private final Tokens tokens;
  private final Map<Integer, String> replacements = new HashMap<>();
  private int end;

  H2Text(Tokens tokens) {
    this.tokens = tokens;
    this.end = tokens.size();
  }

  /** Lets a lock function be found in the schema in which the store declares it. */
  void qualify(SqlParserPos call, LockFunction function) {
    replacements.put(tokens.indexOfFunction(call), "TOLLGATE." + function.name());
  }

  /** Leaves out everything from {@code position} on. */
  void cutFrom(SqlParserPos position) {
    end = Math.min(end, tokens.indexAt(position));
  }

  int parameterCount() {
    return tokens.parameterCount(0, end);
  }

  String render() {
    return render(0, end);
  }

  /**
   * The tokens from {@code from} up to, but without, {@code to}. Two tokens that touched in the
   * client's text touch again only at a parenthesis, a bracket, a comma or a dot, where no lexer
   * can make one of them; between all others there is a space.
   */
  String render(int from, int to) {
    StringBuilder text = new StringBuilder();
    for (int i = from; i < to; i++) {
      if (i > from && !mayTouch(tokens.get(i - 1), tokens.get(i))) {
        text.append(' ');
      }
      text.append(replacements.getOrDefault(i, tokens.get(i).image));
    }
    return text.toString();
  }

  /**
   * The tokens as H2 would write them out: words in upper case, and spaces where they are
   * customary.
   */
  String canonical(int from, int to) {
    StringBuilder text = new StringBuilder();
    for (int i = from; i < to; i++) {
      Token token = tokens.get(i);
      if (i > from && !isJoined(tokens.get(i - 1), token) && !isSign(i - 1)) {
        text.append(' ');
      }
      text.append(isQuoted(token) ? token.image : token.image.toUpperCase(Locale.ROOT));
    }
    return text.toString();
  }

  private static boolean mayTouch(Token left, Token right) {
    boolean touched = left.endLine == right.beginLine && left.endColumn + 1 == right.beginColumn;
    return touched && (isPunctuation(left) || isPunctuation(right));
  }

  private static boolean isPunctuation(Token token) {
    return switch (token.kind) {
      case TollgateParserConstants.LPAREN,
          TollgateParserConstants.RPAREN,
          TollgateParserConstants.LBRACKET,
          TollgateParserConstants.RBRACKET,
          TollgateParserConstants.COMMA,
          TollgateParserConstants.DOT ->
          true;
      default -> false;
    };
  }

  private static boolean isJoined(Token left, Token right) {
    return switch (left.kind) {
      case TollgateParserConstants.LPAREN,
          TollgateParserConstants.LBRACKET,
          TollgateParserConstants.DOT ->
          true;
      default ->
          switch (right.kind) {
            case TollgateParserConstants.RPAREN,
                TollgateParserConstants.LBRACKET,
                TollgateParserConstants.RBRACKET,
                TollgateParserConstants.COMMA,
                TollgateParserConstants.DOT ->
                true;
            case TollgateParserConstants.LPAREN ->
                Character.isLetter(left.image.charAt(0)) || left.image.startsWith("\"");
            default -> false;
          };
    };
  }

  /** Whether a minus or a plus begins an argument, so that it belongs to the number behind it. */
  private boolean isSign(int index) {
    int kind = tokens.get(index).kind;
    if (index == 0
        || (kind != TollgateParserConstants.MINUS && kind != TollgateParserConstants.PLUS)) {
      return false;
    }
    int before = tokens.get(index - 1).kind;
    return before == TollgateParserConstants.LPAREN || before == TollgateParserConstants.COMMA;
  }

  private static boolean isQuoted(Token token) {
    return token.image.indexOf('\'') >= 0 || token.image.indexOf('"') >= 0;
  }
}
