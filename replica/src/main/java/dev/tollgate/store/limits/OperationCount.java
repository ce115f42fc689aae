package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Statements;
import java.util.ArrayDeque;
import java.util.Deque;
import org.h2.expression.Alias;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionColumn;
import org.h2.expression.Parameter;
import org.h2.expression.ValueExpression;

/**
 * Counts the operations that a statement may compute for each row. Meters do not count: the rules
 * of a table have them once a row was written on this replica.
 */
final class OperationCount {
  private int operations;

  /** Adds an object of a prepared statement. */
  void add(Object part) {
    operations += isOperation(part) ? 1 : 0;
    // the operations of rows that are written out are computed once
    Deque<Expression> written = new ArrayDeque<>(H2Statements.writtenOut(part));
    while (!written.isEmpty()) {
      Expression value = written.pop();
      operations -= isOperation(value) ? 1 : 0;
      for (int i = 0; i < value.getSubexpressionCount(); i++) {
        written.push(value.getSubexpression(i));
      }
    }
  }

  int count() {
    return operations;
  }

  private static boolean isOperation(Object part) {
    return part instanceof Expression
        && !(part instanceof ExpressionColumn)
        && !(part instanceof ValueExpression)
        && !(part instanceof Parameter)
        && !(part instanceof Alias)
        && !(part instanceof MeteredExpression);
  }
}
