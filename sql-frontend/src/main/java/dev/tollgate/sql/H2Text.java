package dev.tollgate.sql;

import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import java.util.HashMap;
import java.util.Map;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * The text for H2, rebuilt from tokens, some of which are replaced. The tokens of a fence are cut
 * off. H2 does not get the client's text, which it might read differently, nor text written from
 * the tree, which changes some statements.
 */
final class H2Text {

  private final Tokens tokens;
  private final Map<Integer, String> replacements = new HashMap<>();

  /** Text that is not in the client's text, by the index of the token before it. */
  private final Map<Integer, String> insertions = new HashMap<>();

  private int end;

  H2Text(Tokens tokens) {
    this.tokens = tokens;
    this.end = tokens.size();
  }

  /** Qualifies the function at an index with the schema in which the store declares it. */
  void qualify(int index, String function) {
    replacements.put(index, "TOLLGATE." + function);
  }

  /**
   * Gives the item of a SELECT list from {@code from} to {@code to}, exclusive, the name that H2
   * would give its column. An item whose name would be too long gets none.
   */
  void nameColumn(int from, int to) {
    String name = canonical(from, to);
    if (name.length() <= SqlLimits.NAME_LENGTH) {
      insertions.put(to - 1, " AS \"" + name.replace("\"", "\"\"") + "\"");
    }
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
   * Returns the text of the tokens from {@code from} to {@code to}, exclusive. Tokens that touched
   * in the client's text touch again only at a parenthesis, bracket, comma or dot, where no lexer
   * can join them. Between all other tokens there is a space.
   */
  String render(int from, int to) {
    StringBuilder text = new StringBuilder();
    for (int i = from; i < to; i++) {
      if (i > from && !mayTouch(tokens.get(i - 1), tokens.get(i))) {
        text.append(' ');
      }
      text.append(replacements.getOrDefault(i, tokens.textForH2(i)));
      text.append(insertions.getOrDefault(i, ""));
    }
    return text.toString();
  }

  /**
   * Returns the tokens as H2 would write them to name a column: words in upper case, names without
   * quotes, and parameters with their number. There are no parentheses around the whole, and spaces
   * where they are customary.
   */
  String canonical(int from, int to) {
    if (tokens.get(from).kind == TollgateParserConstants.LPAREN
        && tokens.indexOfClosing(from) == to - 1) {
      return canonical(from + 1, to - 1);
    }
    StringBuilder text = new StringBuilder();
    for (int i = from; i < to; i++) {
      Token token = tokens.get(i);
      if (i > from && !isJoined(tokens.get(i - 1), token) && !isSign(i - 1)) {
        text.append(' ');
      }
      text.append(canonical(i));
    }
    return text.toString();
  }

  private String canonical(int index) {
    Token token = tokens.get(index);
    return switch (token.kind) {
      case TollgateParserConstants.QUOTED_IDENTIFIER -> Tokens.unquoted(token);
      case TollgateParserConstants.HOOK -> "?" + tokens.parameterCount(0, index + 1);
      default -> token.image.indexOf('\'') >= 0 ? token.image : Tokens.upperCase(token);
    };
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
            case TollgateParserConstants.LPAREN -> isName(left);
            default -> false;
          };
    };
  }

  /** Whether a parenthesis after the token is that of a call, or of IN. */
  private static boolean isName(Token token) {
    return switch (token.kind) {
      case TollgateParserConstants.AND,
          TollgateParserConstants.OR,
          TollgateParserConstants.NOT,
          TollgateParserConstants.WHEN,
          TollgateParserConstants.THEN,
          TollgateParserConstants.ELSE,
          TollgateParserConstants.OVER,
          TollgateParserConstants.FILTER,
          TollgateParserConstants.GROUP ->
          false;
      default -> Character.isLetter(token.image.charAt(0)) || token.image.startsWith("\"");
    };
  }

  /** Whether a minus or a plus begins an argument, so that it belongs to the number after it. */
  private boolean isSign(int index) {
    int kind = tokens.get(index).kind;
    if (index == 0
        || (kind != TollgateParserConstants.MINUS && kind != TollgateParserConstants.PLUS)) {
      return false;
    }
    int before = tokens.get(index - 1).kind;
    return before == TollgateParserConstants.LPAREN || before == TollgateParserConstants.COMMA;
  }
}
