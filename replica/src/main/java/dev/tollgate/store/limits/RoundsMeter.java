package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Functions;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.function.HashFunction;
import org.h2.value.Value;

/** The third argument of HASH, the number of rounds. Each round counts as steps. */
final class RoundsMeter extends MeteredExpression {
  private static final int STEPS_PER_ROUND = 16;

  private RoundsMeter(Expression rounds) {
    super(rounds);
  }

  static void attach(HashFunction function) {
    Expression[] arguments = H2Functions.arguments(function);
    if (arguments.length > 2 && !has(arguments[2], RoundsMeter.class)) {
      arguments[2] = new RoundsMeter(arguments[2]);
    }
  }

  @Override
  public Value getValue(SessionLocal session) {
    Value rounds = metered().getValue(session);
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter != null && rounds.getValueType() != Value.NULL) {
      long steps = Math.max(rounds.getLong(), 0) * STEPS_PER_ROUND;
      meter.stepped((int) Math.min(steps, Integer.MAX_VALUE));
    }
    return rounds;
  }
}
