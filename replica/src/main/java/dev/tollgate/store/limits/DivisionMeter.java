package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Parts;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import org.h2.engine.SessionLocal;
import org.h2.expression.BinaryOperation;
import org.h2.expression.Expression;
import org.h2.value.TypeInfo;
import org.h2.value.Value;

/**
 * The divisor of a DECFLOAT. H2 computes as many digits of the quotient as its type has, 100,000
 * unless the statement says less, and then drops the zeros at the end: {@code CAST(1 AS DECFLOAT) /
 * 1} takes three seconds.
 */
final class DivisionMeter extends MeteredExpression {
  /** A quotient with fewer digits costs nothing. */
  private static final long FREE_DIGITS = 100;

  /** The time of H2 grows with the square of the digits: so many take as long as a row. */
  private static final long SQUARE_OF_A_ROW = 4_000;

  private final int rows;

  private DivisionMeter(Expression divisor, int rows) {
    super(divisor);
    this.rows = rows;
  }

  static void attach(BinaryOperation operation) {
    int rows =
        operation.getOperationType() == BinaryOperation.OpType.DIVIDE ? rowsOf(operation) : 0;
    if (rows > 0) {
      H2Parts.replaceParts(
          operation,
          operand ->
              has(operand, DivisionMeter.class) || operand != operation.getSubexpression(1)
                  ? operand
                  : new DivisionMeter(operand, rows));
    }
  }

  /** Returns as how many rows a division counts that gives a value of this expression's type. */
  static int rowsOf(Expression quotient) {
    TypeInfo type = quotient.getType();
    return type == null
            || type.getValueType() != Value.DECFLOAT
            || type.getPrecision() < FREE_DIGITS
        ? 0
        : (int) (type.getPrecision() * type.getPrecision() / SQUARE_OF_A_ROW);
  }

  @Override
  public Value getValue(SessionLocal session) {
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter != null) {
      if (rows > Limits.STATEMENT_ROWS_BASE && !meter.mayRunOutOfMemory()) {
        throw Exhausted.work(
            "the statement was ended and changed nothing, because it divides a DECFLOAT without a"
                + " precision, or with a large one, and the database computes all digits of the"
                + " quotient: cast the operands to DECFLOAT(34)");
      }
      meter.looked(rows);
    }
    return metered().getValue(session);
  }
}
