package dev.tollgate.sql;

import dev.tollgate.sql.Findings.FunctionUse;
import dev.tollgate.sql.Findings.LockUse;
import dev.tollgate.sql.FunctionRule.Use;
import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Lets H2 find the functions that the store declares in schema TOLLGATE. These are the lock
 * functions, and the functions that replace H2's own because H2's own have no limit ({@link
 * Use#BOUNDED}).
 *
 * <p>H2 names a column without an alias after its expression. A client that calls {@code LPAD(a,
 * 3)} must not find a column {@code TOLLGATE.LPAD(A, 3)}. So such an item of a SELECT list gets the
 * alias that H2 would have generated.
 */
final class TollgateFunctions {

  private static final String SCHEMA = "TOLLGATE";

  private final Tokens tokens;
  private final Findings findings;
  private final H2Text text;

  private TollgateFunctions(Tokens tokens, Findings findings, H2Text text) {
    this.tokens = tokens;
    this.findings = findings;
    this.text = text;
  }

  /** Whether a qualified name is the name of one of these functions. */
  static boolean isOne(SqlIdentifier qualified) {
    if (qualified.names.size() != 2 || !qualified.names.get(0).equals(SCHEMA)) {
      return false;
    }
    String name = qualified.names.get(1);
    FunctionRule rule = FunctionRules.named(name);
    return LockFunction.named(name) != null || (rule != null && rule.use() == Use.BOUNDED);
  }

  /** Puts the schema before the calls, and an alias after each item that needs one. */
  static void qualify(Tokens tokens, Findings findings, H2Text text) {
    TollgateFunctions functions = new TollgateFunctions(tokens, findings, text);
    for (LockUse use : findings.locks()) {
      int call = tokens.indexOfFunction(use.position());
      if (!tokens.isBehindDot(call)) {
        text.qualify(call, use.function().name());
      }
    }
    for (FunctionUse use : findings.functions()) {
      if (use.rule().use() == Use.BOUNDED) {
        functions.replace(use);
      }
    }
  }

  private void replace(FunctionUse use) {
    int call = tokens.indexOfFunction(use.position());
    if (tokens.isBehindDot(call)) {
      return;
    }
    text.qualify(call, use.rule().name());
    if (isConstant(call + 2, tokens.indexOfClosing(call + 1))) {
      return; // H2 evaluates the call while it parses, and names the column after the value
    }
    for (SqlNode item : findings.namelessItems()) {
      SqlParserPos position = item.getParserPosition();
      int begin = tokens.indexAt(position);
      int end = tokens.indexOfEnd(position) + 1;
      if (begin <= call && call < end && isEndOfItem(end)) {
        text.nameColumn(begin, end);
      }
    }
  }

  /**
   * Whether the tokens hold no column, no parameter and no function that H2 calls anew each time.
   */
  private boolean isConstant(int from, int to) {
    for (int i = from; i < to; i++) {
      Token token = tokens.get(i);
      boolean isWord = Character.isJavaIdentifierStart(token.image.charAt(0));
      if (token.kind == TollgateParserConstants.HOOK
          || token.kind == TollgateParserConstants.QUOTED_IDENTIFIER
          || (isWord && !token.image.endsWith("'") && !isConstantWord(i))) {
        return false;
      }
    }
    return true;
  }

  private boolean isConstantWord(int index) {
    Token token = tokens.get(index);
    if (tokens.get(index + 1).kind != TollgateParserConstants.LPAREN) {
      return token.kind == TollgateParserConstants.NULL;
    }
    FunctionRule rule = FunctionRules.named(Tokens.upperCase(token));
    return rule != null && (rule.use() == Use.ALLOWED || rule.use() == Use.BOUNDED);
  }

  /** Whether the token at {@code end} may follow an item of a SELECT list. */
  private boolean isEndOfItem(int end) {
    if (end == tokens.size()) {
      return true;
    }
    return switch (tokens.get(end).kind) {
      case TollgateParserConstants.COMMA,
          TollgateParserConstants.RPAREN,
          TollgateParserConstants.FROM,
          TollgateParserConstants.WHERE,
          TollgateParserConstants.ORDER,
          TollgateParserConstants.UNION,
          TollgateParserConstants.INTERSECT,
          TollgateParserConstants.EXCEPT,
          TollgateParserConstants.SET_MINUS,
          TollgateParserConstants.LIMIT,
          TollgateParserConstants.OFFSET,
          TollgateParserConstants.FETCH,
          TollgateParserConstants.FOR,
          TollgateParserConstants.WITH,
          TollgateParserConstants.FENCED,
          TollgateParserConstants.LOCKED ->
          true;
      default -> false;
    };
  }
}
