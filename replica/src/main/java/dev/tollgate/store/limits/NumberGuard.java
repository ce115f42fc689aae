package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Parts;
import dev.tollgate.store.h2.H2Targets;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.h2.Operands;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.h2.command.query.Query;
import org.h2.command.query.SelectUnion;
import org.h2.command.query.TableValueConstructor;
import org.h2.engine.SessionLocal;
import org.h2.expression.Alias;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionColumn;
import org.h2.expression.Parameter;
import org.h2.expression.ValueExpression;
import org.h2.index.IndexCondition;
import org.h2.message.DbException;
import org.h2.table.Column;
import org.h2.value.DataType;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * An expression whose value is checked on its way: a text that its consumer converts to an exact
 * number, or a number with many digits. H2 converts texts to numbers in a dozen places and offers a
 * hook in none of them. Other texts may look like a number: {@code 5e10000000} abbreviates a hash.
 * So this class goes by what consumes a text: an assignment, a comparison, an operation, a
 * function, a set operation.
 */
final class NumberGuard extends MeteredExpression {
  /**
   * The consumer of a value.
   *
   * @param converts whether the consumer converts any text to an exact number
   * @param decisive tell, otherwise, whether an operand beside the value is now a number
   */
  private record Consumer(boolean converts, List<BooleanSupplier> decisive) {
    private static final Consumer NUMBER = new Consumer(/* converts= */ true, List.of());

    /** The consumer of a value that is already a number. */
    private static final Consumer ANY = new Consumer(/* converts= */ false, List.of());

    boolean convertsNow() {
      return converts || decisive.stream().anyMatch(BooleanSupplier::getAsBoolean);
    }

    Consumer and(Consumer other) {
      List<BooleanSupplier> both = new ArrayList<>(decisive);
      both.addAll(other.decisive);
      return new Consumer(converts || other.converts, both);
    }
  }

  private final Consumer consumer;

  private NumberGuard(Expression guarded, Consumer consumer) {
    super(guarded);
    this.consumer = consumer;
  }

  /** True if an object of a prepared statement is an exact number, or takes one. */
  static boolean concerns(Object part) {
    return part instanceof Expression expression
        ? hasNumber(expression.getType())
        : part instanceof IndexCondition condition
            ? searchesNumbers(condition)
            : H2Targets.assigns(part, NumberGuard::hasNumber);
  }

  private static boolean searchesNumbers(IndexCondition condition) {
    // WHERE FALSE has no column
    return hasNumber(
        condition.isCompoundColumns()
            ? condition.getColumns()
            : new @Nullable Column[] {condition.getColumn()});
  }

  /**
   * Guards the expressions of a statement whose values H2 converts to numbers, and the numbers that
   * the statement computes.
   *
   * @param parts the objects of the statement; it is prepared
   * @param concerned whether one of the objects is an exact number, or takes one
   * @throws DbException with SQLState 54001 if a constant is too long a number
   */
  static void attach(List<Object> parts, boolean concerned) {
    for (Object part : parts) {
      if (!concerned) {
        if (Operands.isCondition(part) && part instanceof Expression condition) {
          guardOperands(condition);
        }
        continue;
      }
      if (part instanceof Expression consumer) {
        guardOperands(consumer);
      } else if (part instanceof IndexCondition condition) {
        if (searchesNumbers(condition)) {
          Operands.replace(condition, NumberGuard::converted);
          H2Targets.replaceSearched(condition, NumberGuard::converted);
        }
      } else if (part instanceof SelectUnion || part instanceof TableValueConstructor) {
        guardColumns(H2Targets.columnTypes((Query) part), (Query) part);
      } else {
        H2Targets.replaceAssigned(part, NumberGuard::hasNumber, NumberGuard::converted);
      }
      H2Parts.replaceParts(part, NumberGuard::ofNumber);
    }
  }

  /**
   * Guards the values that a query gives to columns.
   *
   * @param types the types of the columns
   */
  static void guardColumns(List<TypeInfo> types, Query query) {
    H2Targets.replaceColumns(query, types, NumberGuard::hasNumber, NumberGuard::converted);
  }

  /** Guards the values that H2 itself computes for each row that is written to a table. */
  static void guardRules(Column[] columns) {
    for (Column column : columns) {
      if (hasNumber(column.getType())) {
        H2Parts.replaceParts(column, NumberGuard::converted);
      }
    }
  }

  private static void guardOperands(Expression consumer) {
    if (passesOn(consumer) || consumer instanceof MeteredExpression) {
      return;
    }
    boolean compares = Operands.compares(consumer);
    boolean converts = hasNumber(consumer.getType()) || isUnknown(consumer.getType());
    boolean texts = false;
    List<BooleanSupplier> decisive = new ArrayList<>();
    for (Expression operand : Operands.of(consumer)) {
      texts |= mayBeText(operand);
      converts |= compares && isNumber(operand.getType());
      if (compares && operand instanceof Parameter parameter) {
        decisive.add(() -> parameter.isValueSet() && isNumber(parameter.getParamValue().getType()));
      }
    }
    if (texts && (converts || !decisive.isEmpty())) {
      Consumer becoming = new Consumer(converts, decisive);
      Operands.replace(consumer, operand -> of(operand, becoming));
    }
  }

  private static boolean passesOn(Expression expression) {
    return expression instanceof ExpressionColumn
        || expression instanceof Alias
        || expression instanceof ValueExpression
        || expression instanceof Parameter
        || Operands.isRow(expression);
  }

  private static Expression converted(Expression expression) {
    return of(expression, Consumer.NUMBER);
  }

  private static Expression of(Expression expression, Consumer consumer) {
    if (!mayBeText(expression) || Operands.isRow(expression)) {
      return expression;
    }
    if (expression instanceof NumberGuard guard) {
      // no guard within a guard: the charge must not depend on the order in which they are made
      return new NumberGuard(guard.metered(), guard.consumer.and(consumer));
    }
    NumberGuard guard = new NumberGuard(expression, consumer);
    if (expression instanceof ValueExpression && consumer.decisive.isEmpty()) {
      NumberText.cost(expression.getValue(null), consumer::convertsNow);
      return expression;
    }
    return guard;
  }

  /** Guards an operation whose result may have more digits than its operands. */
  private static Expression ofNumber(Expression expression) {
    if (passesOn(expression)
        || expression instanceof NumberGuard
        || !Nesting.has(expression.getType(), NumberText::isExact)) {
      return expression;
    }
    TypeInfo type = expression.getType();
    boolean short_ =
        type.getValueType() == Value.NUMERIC && type.getPrecision() <= NumberText.FREE_LENGTH;
    return short_ ? expression : new NumberGuard(expression, Consumer.ANY);
  }

  private static boolean mayBeText(Expression expression) {
    // until a parameter has a value, its type is the type of what it stands beside
    return expression != ValueExpression.DEFAULT
        && (expression instanceof Parameter
            || isUnknown(expression.getType())
            || Nesting.has(expression.getType(), GeometryText::isText));
  }

  private static boolean isUnknown(@Nullable TypeInfo type) {
    return type == null || type.getValueType() == Value.UNKNOWN;
  }

  private static boolean hasNumber(@Nullable Column[] columns) {
    for (Column column : columns) {
      if (column != null && hasNumber(column.getType())) {
        return true;
      }
    }
    return false;
  }

  /** H2 compares a text with any number as a DECFLOAT. */
  private static boolean isNumber(@Nullable TypeInfo type) {
    return Nesting.has(type, DataType::isNumericType);
  }

  static boolean hasNumber(@Nullable TypeInfo type) {
    return Nesting.has(type, NumberText::isExact);
  }

  @Override
  public Value getValue(SessionLocal session) {
    Value value = metered().getValue(session);
    // H2 knows no value of an aggregate before its group is complete
    if (value != null) {
      charge(NumberText.cost(value, consumer::convertsNow), session);
    }
    return value;
  }

  private static void charge(long bytes, SessionLocal session) {
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter != null && bytes > 0) {
      meter.wrote(bytes);
    }
  }
}
