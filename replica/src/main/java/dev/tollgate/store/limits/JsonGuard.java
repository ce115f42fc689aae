package dev.tollgate.store.limits;

import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Parts;
import dev.tollgate.store.h2.H2Targets;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.h2.Operands;
import dev.tollgate.value.JsonNumbers;
import java.util.List;
import org.h2.command.query.Query;
import org.h2.command.query.SelectUnion;
import org.h2.command.query.TableValueConstructor;
import org.h2.engine.SessionLocal;
import org.h2.expression.Alias;
import org.h2.expression.Expression;
import org.h2.expression.Format;
import org.h2.expression.Parameter;
import org.h2.expression.Subquery;
import org.h2.expression.ValueExpression;
import org.h2.expression.condition.IsJsonPredicate;
import org.h2.expression.function.JsonConstructorFunction;
import org.h2.index.IndexCondition;
import org.h2.message.DbException;
import org.h2.table.Column;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * An expression whose value H2 reads as JSON: a text with FORMAT JSON, or a binary string that
 * becomes JSON. The guard checks the numbers in the value on its way, see {@link JsonNumbers}.
 */
final class JsonGuard extends MeteredExpression {
  /** Whether H2 reads texts as JSON; a text that is merely cast becomes a string of JSON. */
  private final boolean readsTexts;

  private JsonGuard(Expression guarded, boolean readsTexts) {
    super(guarded);
    this.readsTexts = readsTexts;
  }

  /** True if an object of a prepared statement is JSON, or takes or reads it. */
  static boolean concerns(Object part) {
    if (part instanceof Expression expression) {
      return expression instanceof IsJsonPredicate || isJson(expression.getType());
    }
    return H2Targets.assigns(part, JsonGuard::isJson);
  }

  /**
   * Guards the expressions of a statement that H2 reads as JSON.
   *
   * @param parts the objects of the statement; it is prepared
   * @throws DbException with SQLState 54001 if a constant has too long a number
   */
  static void attach(List<Object> parts) {
    for (Object part : parts) {
      if (part instanceof Format || part instanceof IsJsonPredicate) {
        H2Parts.replaceParts(part, operand -> ofOperand(operand, /* readsTexts= */ true));
      } else if (part instanceof JsonConstructorFunction constructor) {
        Operands.replace(constructor, operand -> ofOperand(operand, /* readsTexts= */ false));
      } else if (part instanceof Expression consumer) {
        if (makesJson(consumer)) {
          Operands.replace(consumer, JsonGuard::converted);
        }
      } else if (part instanceof IndexCondition condition) {
        H2Targets.replaceSearched(condition, JsonGuard::converted);
        Operands.replace(condition, JsonGuard::converted);
      } else if (part instanceof SelectUnion || part instanceof TableValueConstructor) {
        guardColumns(H2Targets.columnTypes((Query) part), (Query) part);
      } else {
        H2Targets.replaceAssigned(part, JsonGuard::isJson, JsonGuard::converted);
      }
    }
  }

  /**
   * Guards the values that a query gives to columns.
   *
   * @param types the types of the columns
   */
  static void guardColumns(List<TypeInfo> types, Query query) {
    H2Targets.replaceColumns(query, types, JsonGuard::isJson, JsonGuard::converted);
  }

  /** Guards the values that H2 itself computes for each row that is written to a table. */
  static void guardRules(Column[] columns) {
    for (Column column : columns) {
      if (isJson(column.getType())) {
        H2Parts.replaceParts(column, JsonGuard::converted);
      }
    }
  }

  private static boolean makesJson(Expression consumer) {
    if (consumer instanceof MeteredExpression || consumer instanceof Alias) {
      return false;
    }
    return isJson(consumer.getType())
        || (Operands.compares(consumer)
            && Operands.of(consumer).stream().anyMatch(operand -> isJson(operand.getType())));
  }

  private static boolean isJson(@Nullable TypeInfo type) {
    return Nesting.has(type, part -> part == Value.JSON);
  }

  private static Expression converted(Expression expression) {
    return of(expression, /* readsTexts= */ false);
  }

  /** Guards what a query in parentheses gives, and leaves the query where H2 looks for it. */
  private static Expression ofOperand(Expression operand, boolean readsTexts) {
    if (!Operands.isQuery(operand)) {
      return of(operand, readsTexts);
    }
    if (operand instanceof Subquery subquery) {
      Query query = subquery.getQuery();
      for (int i = 0; i < query.getColumnCount(); i++) {
        H2Targets.replaceColumn(query, i, column -> of(column, readsTexts));
      }
    }
    return operand;
  }

  private static Expression of(Expression expression, boolean readsTexts) {
    boolean passesOn =
        expression instanceof JsonGuard
            || expression == ValueExpression.DEFAULT
            || Operands.isRow(expression)
            || !(expression instanceof Parameter
                || Nesting.has(expression.getType(), type -> isRead(type, readsTexts)));
    if (passesOn) {
      return expression;
    }
    JsonGuard guard = new JsonGuard(expression, readsTexts);
    if (expression instanceof ValueExpression) {
      guard.require(expression.getValue(null));
      return expression;
    }
    return guard;
  }

  private static boolean isRead(int valueType, boolean readsTexts) {
    return switch (valueType) {
      case Value.BINARY, Value.VARBINARY, Value.BLOB, Value.UNKNOWN -> true;
      default -> readsTexts && GeometryText.isText(valueType);
    };
  }

  private void require(Value value) {
    Nesting.forEach(value, this::requirePart);
  }

  private void requirePart(Value value) {
    if (!isRead(value.getValueType(), readsTexts)) {
      return;
    }
    boolean isShort =
        GeometryText.isText(value.getValueType())
            ? JsonNumbers.areShort(value.getString())
            : JsonNumbers.areShort(value.getBytesNoCopy());
    if (!isShort) {
      throw Exhausted.work(
          "the statement was ended and changed nothing, because a number in its JSON has more than "
              + JsonNumbers.MAX_DIGITS
              + " digits: write it as a string of JSON");
    }
  }

  @Override
  public Value getValue(SessionLocal session) {
    Value value = metered().getValue(session);
    if (value != null) {
      require(value);
    }
    return value;
  }
}
