package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.h2.Operands;
import dev.tollgate.store.statement.StatementMeter;
import java.util.List;
import org.h2.engine.SessionLocal;
import org.h2.expression.Alias;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionList;
import org.h2.expression.Subquery;
import org.h2.expression.ValueExpression;
import org.h2.expression.analysis.DataAnalysisOperation;
import org.h2.value.DataType;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * An operand that may be long, and that its consumer reads as a whole. {@code HASH} of a megabyte
 * takes milliseconds, and a statement may have ten thousand such calls for each row. The value
 * counts as steps through a text, whether it is stored or computed: {@code LENGTH(REPEAT(...))} has
 * to make it.
 */
final class SizeMeter extends MeteredExpression {
  /** Most bytes of a value that costs nothing. */
  static final int SMALL = 1_024;

  /**
   * Bytes read in one step: a step is a memory access that waits, and these bytes are read in
   * sequence.
   */
  static final int BYTES_PER_STEP = 16;

  private SizeMeter(Expression metered) {
    super(metered);
  }

  /** Meters the operands of all expressions of a statement; other objects have their own meters. */
  static void attach(List<Object> parts) {
    for (Object part : parts) {
      if (part instanceof ExpressionList) {
        // H2 keeps all elements of an array or row
        Operands.replace(part, ValueMeter::of);
        continue;
      }
      boolean consumes =
          part instanceof Expression
              && !(part instanceof MeteredExpression)
              && !(part instanceof Alias)
              && !(part instanceof Subquery)
              // ValueMeter has these, and H2 looks for plain columns in them when it runs
              && !(part instanceof DataAnalysisOperation);
      if (consumes) {
        Operands.replace(part, SizeMeter::of);
      }
    }
  }

  private static Expression of(Expression operand) {
    if (operand instanceof MeteredExpression meter) {
      if (!(meter instanceof SizeMeter) && !(meter instanceof ValueMeter)) {
        meter.replace(SizeMeter::of);
      }
      return operand;
    }
    boolean free =
        Operands.isQuery(operand)
            || operand instanceof ExpressionList
            || isSmall(operand.getType())
            || (operand instanceof ValueExpression constant && isSmall(constant));
    return free ? operand : new SizeMeter(operand);
  }

  private static boolean isSmall(ValueExpression constant) {
    return constant == ValueExpression.DEFAULT
        || Nesting.bytesOf(constant.getValue(null), SMALL) <= SMALL;
  }

  static boolean isSmall(@Nullable TypeInfo type) {
    if (type == null) {
      return false;
    }
    return switch (type.getValueType()) {
      case Value.UNKNOWN, Value.ARRAY, Value.ROW, Value.NUMERIC, Value.DECFLOAT -> false;
      default ->
          DataType.isNumericType(type.getValueType())
              || DataType.isDateTimeType(type.getValueType())
              || DataType.isIntervalType(type.getValueType())
              || type.getValueType() == Value.BOOLEAN
              || type.getValueType() == Value.UUID
              || type.getValueType() == Value.ENUM
              || type.getPrecision() <= SMALL / 2;
    };
  }

  @Override
  public Value getValue(SessionLocal session) {
    return measured(session, SizeMeter::goThrough);
  }

  private static void goThrough(StatementMeter meter, long bytes) {
    if (bytes > Limits.OPERAND_BYTES && !meter.mayRunOutOfMemory()) {
      throw Exhausted.work(
          "the statement was ended and changed nothing, because a function or comparison in it got"
              + " a value of more than "
              + Limits.OPERAND_BYTES
              + " bytes, of which it could make a larger one than a node has memory for");
    }
    if (bytes > SMALL) {
      meter.stepped((int) Math.min(bytes / BYTES_PER_STEP, Integer.MAX_VALUE));
    }
  }
}
