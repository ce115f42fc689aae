package dev.tollgate.sql;

import static dev.tollgate.sql.parser.TollgateParserConstants.*;

import dev.tollgate.sql.parser.Token;
import java.util.ArrayList;
import java.util.List;

/**
 * Subqueries that H2 accepts without parentheses, {@code SELECT SELECT MAX(a) FROM t} and {@code a
 * = SELECT ...}. H2 extends such a subquery to the end of the enclosing parentheses or of the
 * statement, so parentheses around that text mean the same. With the parentheses, the parser and H2
 * cannot differ.
 */
final class BareQueries {
  private BareQueries() {}

  /** Puts parentheses around every SELECT that stands where only a value may begin. */
  static void enclose(List<Token> tokens) {
    if (!tokens.isEmpty() && (tokens.get(0).kind == GRANT || tokens.get(0).kind == REVOKE)) {
      // in GRANT and REVOKE, SELECT is a privilege
      return;
    }
    List<Token> enclosed = new ArrayList<>(tokens.size());
    // for each open parenthesis, and for the statement, how many subqueries end with it
    List<Integer> open = new ArrayList<>(List.of(0));
    for (Token token : tokens) {
      int level = open.size() - 1;
      switch (token.kind) {
        case LPAREN -> open.add(0);
        case RPAREN, FENCED, LOCKED -> {
          close(enclosed, open.set(level, 0));
          if (token.kind == RPAREN && level > 0) {
            open.remove(level);
          }
        }
        case SELECT -> {
          if (isBare(enclosed, level)) {
            enclosed.add(opening(token, enclosed.get(enclosed.size() - 1)));
            open.set(level, open.get(level) + 1);
          }
        }
        default -> {}
      }
      enclosed.add(token);
    }
    close(enclosed, open.get(0));
    if (enclosed.size() > tokens.size()) {
      tokens.clear();
      tokens.addAll(enclosed);
    }
  }

  private static boolean isBare(List<Token> before, int level) {
    if (before.isEmpty()) {
      return false;
    }
    return switch (before.get(before.size() - 1).kind) {
      case SELECT, CALL, COMMA, EQ, NE, NE2, LT, LE, GT, GE -> true;
      // a generated column; outside parentheses, AS belongs to a table or a view
      case AS -> level > 0;
      default -> false;
    };
  }

  private static Token opening(Token select, Token before) {
    boolean apart = before.endLine < select.beginLine || before.endColumn + 1 < select.beginColumn;
    Token opening = parenthesis(LPAREN, "(");
    opening.beginLine = select.beginLine;
    opening.endLine = select.beginLine;
    opening.beginColumn = apart ? select.beginColumn - 1 : select.beginColumn;
    opening.endColumn = opening.beginColumn;
    return opening;
  }

  private static void close(List<Token> tokens, int count) {
    for (int i = 0; i < count; i++) {
      Token last = tokens.get(tokens.size() - 1);
      Token closing = parenthesis(RPAREN, ")");
      closing.beginLine = last.endLine;
      closing.endLine = last.endLine;
      closing.beginColumn = last.endColumn;
      closing.endColumn = last.endColumn;
      tokens.add(closing);
    }
  }

  /** Whether a token is a parenthesis that the client did not write. */
  static boolean isInserted(Token token) {
    return token instanceof Parenthesis;
  }

  private static final class Parenthesis extends Token {}

  private static Token parenthesis(int kind, String image) {
    Token token = new Parenthesis();
    token.kind = kind;
    token.image = image;
    return token;
  }
}
