package dev.tollgate.store.h2;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.h2.command.query.Query;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionList;
import org.h2.expression.Format;
import org.h2.expression.SimpleCase;
import org.h2.expression.Subquery;
import org.h2.expression.condition.ConditionInQuery;
import org.h2.expression.function.ArrayFunction;
import org.h2.expression.function.NullIfFunction;
import org.h2.index.IndexCondition;

/** Finds the operands of what H2 evaluates: in fields, arrays, lists, rows and subqueries. */
public final class Operands {
  private Operands() {}

  public static List<Expression> of(Expression consumer) {
    List<Expression> operands = new ArrayList<>();
    for (int i = 0; i < consumer.getSubexpressionCount(); i++) {
      operands.add(consumer.getSubexpression(i));
    }
    if (consumer instanceof ConditionInQuery) {
      // H2 does not count the operand that it compares with the rows
      for (Object part : H2Parts.fieldsOf(consumer)) {
        if (part instanceof Expression operand) {
          operands.add(operand);
        } else if (part instanceof Query query) {
          operands.addAll(query.getExpressions());
        }
      }
    }
    return operands;
  }

  public static boolean isCondition(Object part) {
    return part instanceof IndexCondition
        || part.getClass().getPackageName().equals("org.h2.expression.condition");
  }

  /**
   * True for expressions that convert each operand to the type of another operand, whatever type
   * they return.
   */
  public static boolean compares(Expression consumer) {
    return isCondition(consumer)
        || consumer instanceof SimpleCase
        || consumer instanceof NullIfFunction
        || consumer instanceof ArrayFunction;
  }

  /** True for several values in parentheses; H2 recognizes them by their class. */
  public static boolean isRow(Object part) {
    return part instanceof ExpressionList list && !list.isArray();
  }

  /** Whether an operand is a query in parentheses, perhaps with FORMAT JSON behind it. */
  public static boolean isQuery(Expression operand) {
    return operand instanceof Subquery
        || (operand instanceof Format && operand.getSubexpression(0) instanceof Subquery);
  }

  /** Replaces the operands in an object, in its lists, and in rows in these lists. */
  public static void replace(Object holder, UnaryOperator<Expression> replacement) {
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Object> open = new ArrayDeque<>();
    open.push(holder);
    while (!open.isEmpty()) {
      Object part = open.pop();
      if (!seen.add(part)) {
        continue;
      }
      H2Parts.replaceParts(part, replacement);
      Collection<?> inner = part instanceof Collection<?> list ? list : H2Parts.fieldsOf(part);
      for (Object one : inner) {
        if (one instanceof Query query && isCondition(part)) {
          for (int i = 0; i < query.getColumnCount(); i++) {
            H2Targets.replaceColumn(query, i, replacement);
          }
        } else if (isList(one)) {
          open.push(one);
        }
      }
    }
  }

  private static boolean isList(Object part) {
    return part instanceof Collection
        || part.getClass() == Expression[].class
        || isRow(part)
        || part instanceof SimpleCase.SimpleWhen;
  }
}
