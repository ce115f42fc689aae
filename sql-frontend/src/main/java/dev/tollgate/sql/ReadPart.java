package dev.tollgate.sql;

import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import org.jspecify.annotations.Nullable;

/**
 * The read part of a write: the query that computes the rows that the write stores, changes or
 * deletes. It is cut out of the tokens of the write, so that H2 computes with the same text.
 */
final class ReadPart {
  private final Tokens tokens;
  private final StringBuilder text = new StringBuilder();

  private ReadPart(Tokens tokens) {
    this.tokens = tokens;
  }

  /**
   * Returns the plan of the query, whose parameters are the first ones of the write.
   *
   * @param sql a statement that was planned
   * @return null if the statement has no such query, or if the query changes something itself, for
   *     example a sequence
   */
  static Plan.@Nullable Read of(String sql) {
    Tokens tokens = Tokens.of(sql);
    if (tokens.size() == 0) {
      return null;
    }
    ReadPart part = new ReadPart(tokens);
    if (!part.find()) {
      return null;
    }
    try {
      return Planner.plan(part.text.toString()) instanceof Plan.Read read ? read : null;
    } catch (SqlRefused notAQuery) {
      return null;
    }
  }

  private boolean find() {
    return switch (kind(0)) {
      case TollgateParserConstants.DELETE -> findDelete();
      case TollgateParserConstants.UPDATE -> findUpdate();
      case TollgateParserConstants.MERGE -> findMerge();
      case TollgateParserConstants.INSERT -> findQuery(1);
      case TollgateParserConstants.CREATE -> findDefinition();
      default -> isQuery(0) && findQuery(0);
    };
  }

  /** The rows of {@code DELETE FROM table WHERE condition}. */
  private boolean findDelete() {
    int from = next(0, TollgateParserConstants.FROM);
    append("SELECT 1");
    append(from, end(from));
    return from < tokens.size();
  }

  /** The new values of the rows of {@code UPDATE table SET column = value WHERE condition}. */
  private boolean findUpdate() {
    int set = next(0, TollgateParserConstants.SET);
    int end = end(set);
    int where = Math.min(end, next(set, TollgateParserConstants.WHERE));
    append("SELECT 1");
    appendValues(set + 1, where);
    append("FROM");
    append(1, set);
    append(where, end);
    return set < tokens.size();
  }

  /** What follows the equals signs of assignments. */
  private void appendValues(int from, int to) {
    boolean value = false;
    for (int i = from; i < to; i = after(i)) {
      if (!value && kind(i) == TollgateParserConstants.EQ) {
        value = true;
        append(",");
      } else if (value && kind(i) == TollgateParserConstants.COMMA) {
        value = false;
      } else if (value) {
        append(i, after(i));
      }
    }
  }

  /** The pairs of rows of {@code MERGE INTO table USING source ON condition}, or its new rows. */
  private boolean findMerge() {
    int using = next(0, TollgateParserConstants.USING);
    if (using == tokens.size()) {
      return findQuery(1);
    }
    int on = next(using, TollgateParserConstants.ON);
    append("SELECT 1 FROM");
    append(2, using);
    append("RIGHT JOIN");
    append(using + 1, on);
    append(on, next(on, TollgateParserConstants.WHEN));
    return on < tokens.size();
  }

  /** The rows of {@code CREATE TABLE table AS query}, or of a view. */
  private boolean findDefinition() {
    int as = next(0, TollgateParserConstants.AS);
    return as + 1 < tokens.size() && isQuery(as + 1) && findQuery(as + 1);
  }

  private boolean findQuery(int from) {
    int start = from;
    while (start < tokens.size() && !isQuery(start)) {
      start = after(start);
    }
    if (start > 0 && kind(start - 1) == TollgateParserConstants.DEFAULT_) {
      return false;
    }
    append(start, end(start));
    return start < tokens.size();
  }

  private boolean isQuery(int index) {
    int first = index;
    while (first < tokens.size() && kind(first) == TollgateParserConstants.LPAREN) {
      first++;
    }
    return first < tokens.size()
        && switch (kind(first)) {
          case TollgateParserConstants.SELECT,
              TollgateParserConstants.VALUES,
              TollgateParserConstants.WITH,
              TollgateParserConstants.TABLE ->
              true;
          default -> false;
        };
  }

  /** The index at which a clause that H2 does not see, or that no query has, begins. */
  private int end(int from) {
    for (int i = from; i < tokens.size(); i = after(i)) {
      int following = i + 1 < tokens.size() ? kind(i + 1) : TollgateParserConstants.EOF;
      boolean ends =
          switch (kind(i)) {
            case TollgateParserConstants.FENCED, TollgateParserConstants.LOCKED ->
                following == TollgateParserConstants.BY;
            case TollgateParserConstants.FOR -> following == TollgateParserConstants.UPDATE;
            case TollgateParserConstants.WITH ->
                i > from
                    && (following == TollgateParserConstants.DATA
                        || following == TollgateParserConstants.NO);
            default -> false;
          };
      if (ends) {
        return i;
      }
    }
    return tokens.size();
  }

  private int next(int from, int wanted) {
    int index = from;
    while (index < tokens.size() && kind(index) != wanted) {
      index = after(index);
    }
    return index;
  }

  /** The index after a token, or after all that is in its parentheses. */
  private int after(int index) {
    return kind(index) == TollgateParserConstants.LPAREN
        ? tokens.indexOfClosing(index) + 1
        : index + 1;
  }

  private int kind(int index) {
    return tokens.get(index).kind;
  }

  private void append(String word) {
    text.append(word).append(' ');
  }

  private void append(int from, int to) {
    for (int i = from; i < to; i++) {
      Token token = tokens.get(i);
      append(token.kind == TollgateParserConstants.DEFAULT_ ? "NULL" : token.image);
    }
  }
}
