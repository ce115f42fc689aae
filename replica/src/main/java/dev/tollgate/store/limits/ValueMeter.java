package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Functions;
import dev.tollgate.store.h2.H2Windows;
import java.util.List;
import org.h2.command.query.QueryOrderBy;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionColumn;
import org.h2.expression.Format;
import org.h2.expression.OperationN;
import org.h2.expression.Parameter;
import org.h2.expression.Subquery;
import org.h2.expression.ValueExpression;
import org.h2.expression.function.ConcatFunction;
import org.h2.value.Value;

/**
 * An expression that reports the size of its values to the running statement's meter. It stands for
 * what a query computes and H2 keeps until the statement ends, which may be far more than the
 * statement writes.
 */
final class ValueMeter extends MeteredExpression {
  /** Bytes from which a value costs something where it is copied. */
  private static final int SMALL = 256;

  private final int least;
  private final int times;

  private ValueMeter(Expression metered) {
    this(metered, 0, 1);
  }

  /**
   * @param least the size in bytes from which a value counts
   * @param times how often a value counts
   */
  private ValueMeter(Expression metered, int least, int times) {
    super(metered);
    this.least = least;
    this.times = times;
  }

  /**
   * Meters what one call puts together, before the call does: H2 would build a result of many times
   * the memory of the node, and end.
   */
  static void attachToOperands(OperationN call) {
    Expression[] operands = H2Functions.arguments(call);
    boolean separates = call instanceof ConcatFunction function && isConcatWs(function);
    for (int i = 0; i < operands.length; i++) {
      Expression operand = operands[i];
      boolean separator = separates && i == 0;
      // for JSON_ARRAY (SELECT ...), H2 asks whether its operand is a query
      boolean counts = operand != null && !has(operand, ValueMeter.class) && !isQuery(operand);
      if (counts && (separator || !(operand instanceof ValueExpression))) {
        operands[i] = new ValueMeter(operand, SMALL, separator ? operands.length : 1);
      }
    }
  }

  /** Whether an operand is a query in parentheses, perhaps with FORMAT JSON behind it. */
  private static boolean isQuery(Expression operand) {
    return operand instanceof Subquery
        || (operand instanceof Format && operand.getSubexpression(0) instanceof Subquery);
  }

  private static boolean isConcatWs(ConcatFunction function) {
    return function.getName().equals("CONCAT_WS");
  }

  /**
   * Meters the expressions that make new values; columns and constants only refer to their values.
   */
  static void attach(List<Expression> expressions) {
    expressions.replaceAll(ValueMeter::of);
  }

  /** Meters the expressions by which rows are ordered, if they make new values. */
  static void attachToOrder(List<QueryOrderBy> order) {
    H2Windows.replaceKeys(order, ValueMeter::of);
  }

  /** Meters the expressions of an array that make new values. */
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
            || has(expression, ValueMeter.class);
    return refers ? expression : new ValueMeter(expression);
  }

  @Override
  public Value getValue(SessionLocal session) {
    return measured(
        session,
        (meter, bytes) -> {
          if (bytes >= least) {
            meter.wrote(bytes * times);
          }
        });
  }
}
