package dev.tollgate.store;

import java.util.List;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionColumn;
import org.h2.expression.Parameter;
import org.h2.expression.ValueExpression;
import org.h2.value.Value;

/**
 * An expression that tells the running statement's meter how large its values are: for what a query
 * computes and H2 keeps until the statement ends, which may be far more than the statement writes.
 */
final class ValueMeter extends MeteredExpression {
  private ValueMeter(Expression metered) {
    super(metered);
  }

  /** Meters those expressions that make new values; columns and constants only refer to theirs. */
  static void attach(List<Expression> expressions) {
    expressions.replaceAll(ValueMeter::of);
  }

  /** The same for an array. */
  static void attach(Expression[] expressions) {
    for (int i = 0; i < expressions.length; i++) {
      expressions[i] = of(expressions[i]);
    }
  }

  static Expression of(Expression expression) {
    Expression plain = expression.getNonAliasExpression();
    boolean refers =
        plain instanceof ExpressionColumn
            || plain instanceof ValueExpression
            || plain instanceof Parameter
            || expression instanceof ValueMeter;
    return refers ? expression : new ValueMeter(expression);
  }

  @Override
  public Value getValue(SessionLocal session) {
    Value value = metered().getValue(session);
    if (value != null && session.getCurrentCommand() instanceof StoreCommand command) {
      command.meter().wrote(Nesting.requireBytes(value));
    }
    return value;
  }
}
