package dev.tollgate.sql;

import dev.tollgate.sql.Findings.FunctionUse;
import dev.tollgate.sql.UseRules.Role;
import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * The expression of {@code FENCED BY LOCK (expression)}, which names the lock of a row. It is
 * evaluated at every write of a row, so it must return the same name for the same row each time. It
 * may depend only on the columns of the row.
 */
final class RowLockClause {

  private final Tokens tokens;
  private final Findings findings = new Findings();

  private RowLockClause(Tokens tokens) {
    this.tokens = tokens;
  }

  /**
   * Returns the text of the expression for H2, without the parentheses around it.
   *
   * @param parenthesized the expression with its parentheses
   */
  static String expressionSql(Tokens tokens, SqlNode parenthesized) {
    SqlParserPos position = parenthesized.getParserPosition();
    int opening = tokens.indexAt(position);
    int closing = tokens.indexOfClosing(opening);
    RowLockClause lock = new RowLockClause(tokens);
    TreeWalk.expression(tokens, parenthesized, lock.findings);
    lock.checkParameters(opening, closing);
    lock.checkQueries();
    lock.findings.functions().forEach(RowLockClause::checkFunction);
    lock.checkColumns(position);
    UseRules.check(lock.findings, Role.DEFINITION);
    H2Text text = new H2Text(tokens);
    TollgateFunctions.qualify(tokens, lock.findings, text);
    return text.render(opening + 1, closing);
  }

  private void checkParameters(int from, int to) {
    for (int i = from; i < to; i++) {
      Token token = tokens.get(i);
      if (token.kind == TollgateParserConstants.HOOK) {
        throw Refusals.notAllowed(
            token,
            "the lock of a row has no parameters: it belongs to the definition of the table");
      }
    }
  }

  private void checkQueries() {
    for (SqlParserPos position : findings.queries()) {
      throw Refusals.notAllowed(
          position,
          "the lock of a row has no subquery, whose result could change while the row does not:"
              + " use the columns of the row");
    }
    SqlParserPos sequence = findings.advancedSequence();
    if (sequence != null) {
      throw Refusals.notAllowed(
          sequence, "NEXT VALUE FOR gives the lock of a row another name each time: use a column");
    }
  }

  private static void checkFunction(FunctionUse use) {
    FunctionRule rule = use.rule();
    boolean dependsOnOtherRows =
        rule.group().equals(FunctionRules.AGGREGATES) || rule.group().equals(FunctionRules.WINDOWS);
    if (dependsOnOtherRows) {
      throw Refusals.notAllowed(
          use.position(),
          "the lock of a row cannot use " + rule.name() + ", which depends on other rows");
    }
    if (rule.group().equals(FunctionRules.SESSION)) {
      throw Refusals.notAllowed(
          use.position(),
          "the lock of a row cannot use "
              + rule.name()
              + ", which depends on the session that writes the row: use a column");
    }
    if (rule.use() == FunctionRule.Use.PINNED) {
      throw Refusals.notAllowed(
          use.position(),
          "the lock of a row cannot use "
              + rule.name()
              + ", which gives it another name each time: use a column");
    }
  }

  private void checkColumns(SqlParserPos position) {
    for (SqlIdentifier column : findings.columns()) {
      if (!column.isSimple()) {
        throw Refusals.notAllowed(
            column.getParserPosition(),
            "the lock of a row names columns without their table: write "
                + column.names.get(column.names.size() - 1));
      }
    }
    if (findings.columns().isEmpty()) {
      throw Refusals.notAllowed(
          position,
          "the lock of a row must depend on a column: for one lock of the whole table write its"
              + " name, FENCED BY LOCK 'name'");
    }
  }
}
