package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Parts;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.h2.command.dml.DataChangeStatement;
import org.h2.engine.SessionLocal;
import org.h2.expression.Alias;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionList;
import org.h2.expression.Parameter;
import org.h2.expression.ValueExpression;
import org.h2.expression.aggregate.AbstractAggregate;
import org.h2.expression.aggregate.Aggregate;
import org.h2.expression.aggregate.AggregateType;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.value.Value;

/**
 * An expression that gives texts, in a statement in which something is a GEOMETRY. {@link
 * GeometryText} checks each text on its way. H2 makes a GEOMETRY from a text in a dozen places, and
 * offers a hook in none of them. Most of these places do not show in the SQL text: an assignment, a
 * comparison, a CASE, a UNION. But all texts come from expressions, constants and parameters.
 */
public final class GeometryGuard extends MeteredExpression {
  private GeometryGuard(Expression guarded) {
    super(guarded);
  }

  /** True if an object of a prepared statement is a GEOMETRY, or changes a table that has one. */
  static boolean concerns(Object part) {
    return part instanceof DataChangeStatement change
        ? hasGeometry(change.getTable())
        : part instanceof Expression expression && GeometryText.hasGeometry(expression.getType());
  }

  /** True if an expression is a GEOMETRY, or has one somewhere in it. */
  public static boolean isIn(Expression expression) {
    Deque<Expression> open = new ArrayDeque<>(List.of(expression));
    while (!open.isEmpty()) {
      Expression part = open.pop();
      if (concerns(part)) {
        return true;
      }
      for (int i = 0; i < part.getSubexpressionCount(); i++) {
        open.push(part.getSubexpression(i));
      }
    }
    return false;
  }

  private static boolean hasGeometry(Table table) {
    for (Column column : table.getColumns()) {
      if (GeometryText.hasGeometry(column.getType())) {
        return true;
      }
    }
    return false;
  }

  /**
   * Guards all expressions of a statement that give texts.
   *
   * @param parts the objects of the statement
   * @throws org.h2.message.DbException with SQLState 54001 if a constant is nested too deep
   */
  static void attach(Collection<Object> parts) {
    for (Object part : parts) {
      // H2 finds the index for MIN and MAX by the column that is their argument
      boolean keepsArguments =
          part instanceof AbstractAggregate
              && !(part instanceof Aggregate aggregate
                  && aggregate.getAggregateType() == AggregateType.ENVELOPE);
      if (!keepsArguments) {
        H2Parts.replaceParts(part, GeometryGuard::of);
      }
    }
  }

  private static Expression of(Expression expression) {
    if (expression instanceof ValueExpression constant) {
      if (constant != ValueExpression.DEFAULT) {
        GeometryText.require(constant.getValue(null));
      }
      return expression;
    }
    boolean passesOn =
        expression instanceof GeometryGuard
            || expression instanceof Alias
            || expression instanceof ExpressionList
            || expression instanceof Parameter;
    return passesOn || !GeometryText.hasText(expression.getType())
        ? expression
        : new GeometryGuard(expression);
  }

  @Override
  public Value getValue(SessionLocal session) {
    Value value = metered().getValue(session);
    // H2 knows no value of an aggregate before its group is complete
    if (value != null) {
      GeometryText.require(value);
    }
    return value;
  }
}
