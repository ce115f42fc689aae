package dev.tollgate.sql;

import static dev.tollgate.sql.parser.TollgateParserConstants.*;

import dev.tollgate.sql.parser.Token;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Limits, before the parser runs, how deep the parser can recurse and how long a chain of operators
 * it must order. Without limits, 10,000 parentheses overflow its stack, and a thousand BETWEENs in
 * a row take it ten seconds.
 */
final class NestingGuard {

  /**
   * Calcite searches all operators that follow for the AND of a BETWEEN and the ESCAPE of a LIKE.
   * Its time grows with the cube of their number.
   */
  private static final int WEIGHT_OF_BETWEEN_AND_LIKE = 3;

  private static final int DOTS_IN_A_NAME = 3;

  /** The text between two parentheses, or outside all parentheses. */
  private static final class Level {
    /** Operators since the last comma. */
    int operators;

    /** The depth of the deepest level that ended since the last comma. */
    int deepest;

    /** The depth of the deepest item before that comma. */
    int deepestItem;

    /**
     * The number of UNION, JOIN and WHEN, which build a tree, or a list with quadratic cost, across
     * commas.
     */
    int combinations;

    void endItem() {
      deepestItem = Math.max(deepestItem, operators + deepest);
      operators = 0;
      deepest = 0;
    }

    int depth() {
      return combinations + Math.max(deepestItem, operators + deepest);
    }
  }

  private final Deque<Level> levels = new ArrayDeque<>();

  private NestingGuard() {
    levels.push(new Level());
  }

  static void check(Tokens tokens) {
    NestingGuard guard = new NestingGuard();
    int dots = 0;
    for (int i = 0; i < tokens.size(); i++) {
      Token token = tokens.get(i);
      guard.pass(token);
      if (token.kind == DOT) {
        dots++;
        if (dots > DOTS_IN_A_NAME) {
          throw Refusals.syntax(
              token, "a name has at most four parts: catalog.schema.table.column");
        }
      } else if (i + 1 < tokens.size() && tokens.get(i + 1).kind != DOT) {
        dots = 0;
      }
    }
  }

  private void pass(Token token) {
    Level level = levels.element();
    switch (token.kind) {
      case LPAREN, CASE -> open(token);
      case LBRACKET -> {
        level.operators++;
        open(token);
      }
      case RPAREN, RBRACKET, END -> close(token);
      case COMMA, THEN, ELSE -> level.endItem();
      case WHEN -> {
        level.endItem();
        level.combinations++;
        checkDepth(token, level.depth());
      }
      case UNION, EXCEPT, INTERSECT, SET_MINUS, JOIN -> {
        level.combinations++;
        checkDepth(token, level.depth());
      }
      case BETWEEN, LIKE, ILIKE, RLIKE, SIMILAR -> {
        level.operators += WEIGHT_OF_BETWEEN_AND_LIKE;
        checkDepth(token, level.depth());
      }
      default -> {
        if (isOperator(token)) {
          level.operators++;
          checkDepth(token, level.depth());
        }
      }
    }
  }

  private void open(Token token) {
    levels.push(new Level());
    if (levels.size() > SqlLimits.NESTING + 1) {
      throw Refusals.tooLong(
          token, "nested more than " + SqlLimits.NESTING + " levels deep: split the statement");
    }
  }

  /** Closes a level; the parser refuses a surplus parenthesis. */
  private void close(Token token) {
    if (levels.size() > 1) {
      Level closed = levels.pop();
      Level outer = levels.element();
      outer.deepest = Math.max(outer.deepest, closed.depth() + 1);
      checkDepth(token, outer.depth());
    }
  }

  private static void checkDepth(Token token, int depth) {
    if (depth > SqlLimits.OPERATORS) {
      throw Refusals.tooLong(
          token,
          "more than "
              + SqlLimits.OPERATORS
              + " operators in one expression: put parts of it in parentheses, or use IN"
              + " (...)");
    }
  }

  /**
   * Whether Calcite puts the token on the list of operators and operands from which it builds a
   * tree, or recurses for it.
   */
  private static boolean isOperator(Token token) {
    return switch (token.kind) {
      case EQ,
          GT,
          LT,
          LE,
          GE,
          NE,
          NE2,
          PLUS,
          MINUS,
          STAR,
          SLASH,
          PERCENT_REMAINDER,
          CONCAT,
          INFIX_CAST,
          COLON,
          LAMBDA,
          VERTICAL_BAR,
          CARET,
          AMPERSAND,
          LEFTSHIFT,
          AND,
          OR,
          NOT,
          IS,
          IN,
          REGEXP,
          ESCAPE,
          EXISTS,
          UNIQUE,
          AT,
          COLLATE,
          CONTAINS,
          OVERLAPS,
          EQUALS,
          IMMEDIATELY,
          MEMBER,
          ARRAY,
          INTERVAL,
          CURSOR,
          NEW ->
          true;
      default -> false;
    };
  }
}
