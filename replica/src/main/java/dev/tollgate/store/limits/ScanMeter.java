package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionVisitor;
import org.h2.expression.Operation0;
import org.h2.expression.condition.ConditionAndOr;
import org.h2.table.TableFilter;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A condition that is always true and reports each examined row to the running statement's meter.
 *
 * <p>H2 itself counts the rows that a join gives. It counts the rows that a filter rejects only
 * toward a check of its session, and this check cannot be made to count. So this condition stands
 * before the other conditions of every scan ({@link ScanMeters}).
 */
final class ScanMeter extends Operation0 {
  static final ScanMeter INSTANCE = new ScanMeter();

  private ScanMeter() {}

  /** Makes a scan report every row that it examines to the meter of its statement. */
  static void attach(TableFilter scan) {
    H2Statements.replaceCondition(
        scan, condition -> isMetered(condition) ? condition : before(condition));
  }

  /** Returns a condition that evaluates this condition, and then the given one. */
  static Expression before(@Nullable Expression condition) {
    return condition == null
        ? INSTANCE
        : new ConditionAndOr(ConditionAndOr.AND, INSTANCE, condition);
  }

  private static boolean isMetered(@Nullable Expression condition) {
    return condition == INSTANCE
        || (condition instanceof ConditionAndOr and && and.getSubexpression(0) == INSTANCE);
  }

  @Override
  public Value getValue(SessionLocal session) {
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter != null) {
      meter.looked(1);
    }
    return ValueBoolean.TRUE;
  }

  @Override
  public TypeInfo getType() {
    return TypeInfo.TYPE_BOOLEAN;
  }

  @Override
  public StringBuilder getUnenclosedSQL(StringBuilder builder, int sqlFlags) {
    return builder.append("TRUE");
  }

  @Override
  public boolean isEverything(ExpressionVisitor visitor) {
    return true;
  }

  @Override
  public int getCost() {
    return 0;
  }
}
