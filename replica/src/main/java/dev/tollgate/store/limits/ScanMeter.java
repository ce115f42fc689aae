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
 * A condition that is always true and tells the running statement's meter that a row was looked at.
 *
 * <p>H2 itself counts the rows that a join gives, and those that a filter turned away only towards
 * a check of its session, which cannot be asked to count. So this condition stands before the
 * others of every scan ({@link ScanMeters}).
 */
final class ScanMeter extends Operation0 {
  static final ScanMeter INSTANCE = new ScanMeter();

  private ScanMeter() {}

  /** Lets a scan tell the meter of its statement about every row that it looks at. */
  static void attach(TableFilter scan) {
    H2Statements.replaceCondition(
        scan, condition -> isMetered(condition) ? condition : before(condition));
  }

  /** This condition, and then the one that was there. */
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
