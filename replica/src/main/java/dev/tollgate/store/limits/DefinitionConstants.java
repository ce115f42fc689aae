package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Parts;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.h2.command.Prepared;
import org.h2.command.ddl.CreateTableData;
import org.h2.command.ddl.DefineCommand;
import org.h2.command.ddl.SequenceOptions;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ValueExpression;
import org.h2.table.Column;

/**
 * The constants in the expressions of a definition. H2 computes them when it runs the definition,
 * where steps end nothing. So they are computed once before, where steps do.
 */
public final class DefinitionConstants {
  private DefinitionConstants() {}

  /**
   * Computes the constants of a definition, and forgets them.
   *
   * @throws org.h2.message.DbException with SQLState 54001 from the watch of the statement
   */
  public static void compute(SessionLocal session, Prepared definition) {
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Object> open = new ArrayDeque<>(List.of(definition));
    while (!open.isEmpty()) {
      Object part = open.pop();
      if (seen.add(part)) {
        for (Object found : partsOf(session, part)) {
          if (isPart(found)) {
            open.push(found);
          }
        }
      }
    }
  }

  private static Collection<?> partsOf(SessionLocal session, Object part) {
    if (part instanceof Collection<?> parts) {
      return parts;
    }
    if (part instanceof Expression expression) {
      if (isConstant(expression)) {
        expression.optimize(session);
        return List.of();
      }
      return operandsOf(expression);
    }
    return H2Parts.fieldsOf(part);
  }

  private static boolean isPart(Object found) {
    return found instanceof Expression
        || found instanceof Column
        || found instanceof Collection
        || found instanceof CreateTableData
        || found instanceof SequenceOptions
        || found instanceof DefineCommand;
  }

  private static boolean isConstant(Expression expression) {
    Deque<Expression> open = new ArrayDeque<>(List.of(expression));
    while (!open.isEmpty()) {
      Expression part = open.pop();
      List<Expression> operands = operandsOf(part);
      if (operands.isEmpty() && !(part instanceof ValueExpression)) {
        return false;
      }
      operands.forEach(open::push);
    }
    return !(expression instanceof ValueExpression);
  }

  private static List<Expression> operandsOf(Expression expression) {
    List<Expression> operands = new ArrayList<>();
    for (int i = 0; i < expression.getSubexpressionCount(); i++) {
      operands.add(expression.getSubexpression(i));
    }
    return operands;
  }
}
