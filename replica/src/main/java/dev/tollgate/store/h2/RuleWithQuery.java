package dev.tollgate.store.h2;

import dev.tollgate.h2.Meter;
import org.h2.command.Parser;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.table.ColumnResolver;
import org.h2.util.HasSQL;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * The expression of a CHECK, a DEFAULT, an ON UPDATE or a GENERATED column that has subqueries.
 * Each statement that evaluates the rule makes the expression of its text and plans its subqueries.
 * H2 would go on with the plan, the results and the session that a subquery got when the rule was
 * made: at a time when its tables had other rows, and on a restored replica at another time.
 *
 * <p>The expression that this one stands for is never evaluated. H2 takes the text and the
 * dependencies of the rule from this expression, which has no plan. So the text does not depend on
 * rows either.
 */
public final class RuleWithQuery extends StandIn {
  private @Nullable ColumnResolver row;

  private RuleWithQuery(Expression rule) {
    super(rule);
  }

  /** The expression of a rule as it was parsed, or one that stands for the expression. */
  public static Expression of(Expression parsed) {
    return H2Parts.hasQuery(parsed) ? new RuleWithQuery(parsed) : parsed;
  }

  /**
   * Does work in which H2 plans no query: it leaves tables in the order in which the text has them.
   */
  static void withoutPlans(SessionLocal session, Runnable work) {
    session.setParsingCreateView(true);
    try {
      work.run();
    } finally {
      session.setParsingCreateView(false);
    }
  }

  @Override
  public void mapColumns(ColumnResolver resolver, int level, int state) {
    super.mapColumns(resolver, level, state);
    row = resolver;
  }

  /**
   * H2 may find that the rule needs no subquery. The rule is then what a restored replica makes of
   * the text that is left.
   */
  @Override
  public Expression optimize(SessionLocal session) {
    withoutPlans(session, () -> super.optimize(session));
    Expression left = parsed(session);
    return H2Parts.hasQuery(left) ? this : left.optimize(session);
  }

  @Override
  public Value getValue(SessionLocal session) {
    return Meter.ofStatement(this, () -> parsed(session).optimize(session)).getValue(session);
  }

  private Expression parsed(SessionLocal session) {
    Parser parser = new Parser(session);
    // the rights of the owner count, which the store has checked, and not those of the writer
    parser.setRightsChecked(true);
    Expression parsed =
        parser.parseExpression(
            original().getUnenclosedSQL(new StringBuilder(), HasSQL.DEFAULT_SQL_FLAGS).toString());
    ColumnResolver columns = row;
    if (columns != null) {
      parsed.mapColumns(columns, 0, Expression.MAP_INITIAL);
    }
    return parsed;
  }

  @Override
  public Expression getNonAliasExpression() {
    return this;
  }
}
