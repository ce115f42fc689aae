package dev.tollgate.store.limits;

import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.h2.StandIn;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import java.util.function.ObjLongConsumer;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.value.Value;

/** An expression that stands for another expression and sees each of its values. */
abstract class MeteredExpression extends StandIn {
  MeteredExpression(Expression metered) {
    super(metered);
  }

  /**
   * Whether one of this kind stands for an expression, perhaps within others. The rules of a table
   * are looked through by each statement that changes it, and must get their meters once.
   */
  static boolean has(Expression expression, Class<? extends MeteredExpression> kind) {
    Expression inner = expression;
    while (inner instanceof MeteredExpression meter) {
      if (kind.isInstance(meter)) {
        return true;
      }
      inner = meter.original();
    }
    return false;
  }

  /**
   * Evaluates what this stands for, and tells what watches the statement how many bytes the value
   * takes. There is no value while an aggregate has no group yet.
   */
  final Value measured(SessionLocal session, ObjLongConsumer<StatementMeter> told) {
    Value value = original().getValue(session);
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter != null && value != null) {
      told.accept(meter, Nesting.requireBytes(value));
    }
    return value;
  }
}
