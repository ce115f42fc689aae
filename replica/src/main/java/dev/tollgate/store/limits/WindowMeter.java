package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Windows;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import java.util.EnumSet;
import java.util.Set;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ValueExpression;
import org.h2.expression.aggregate.AbstractAggregate;
import org.h2.expression.aggregate.Aggregate;
import org.h2.expression.aggregate.AggregateType;
import org.h2.expression.analysis.WindowFrame;
import org.h2.expression.analysis.WindowFrameBound;
import org.h2.expression.analysis.WindowFrameBoundType;
import org.h2.expression.analysis.WindowFrameExclusion;
import org.h2.expression.analysis.WindowFrameUnits;
import org.h2.expression.analysis.WindowFunction;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * An argument or the filter of a window function, which H2 evaluates once for each row before it
 * computes the function. For some functions H2 then goes through the rows of the frame again for
 * each row; the meter counts these visits before they happen.
 *
 * <p>The meter knows no partitions. Unless the frame has a constant number of rows, the n-th row
 * counts as n visits.
 */
final class WindowMeter extends MeteredExpression {
  /** Aggregates that H2 updates from row to row. */
  private static final Set<AggregateType> RUNNING =
      EnumSet.of(
          AggregateType.COUNT_ALL,
          AggregateType.COUNT,
          AggregateType.SUM,
          AggregateType.MIN,
          AggregateType.MAX,
          AggregateType.AVG,
          AggregateType.EVERY,
          AggregateType.ANY);

  private final long mostVisits;
  private long rows;

  private WindowMeter(Expression metered, long mostVisits) {
    super(metered);
    this.mostVisits = mostVisits;
  }

  static void attach(AbstractAggregate aggregate) {
    if (H2Windows.windowOf(aggregate) == null
        || aggregate.getFilterCondition() instanceof WindowMeter) {
      return;
    }
    long visits = visitsOf(aggregate);
    if (visits > 0) {
      Expression filter = aggregate.getFilterCondition();
      aggregate.setFilterCondition(
          new WindowMeter(filter == null ? ValueExpression.TRUE : filter, visits));
    }
  }

  static void attach(WindowFunction function, Expression[] arguments) {
    if (arguments.length == 0 || arguments[0] instanceof WindowMeter) {
      return;
    }
    long visits = visitsOf(function);
    if (visits > 0) {
      arguments[0] = new WindowMeter(arguments[0], visits);
    }
  }

  private static long visitsOf(AbstractAggregate aggregate) {
    boolean running =
        aggregate instanceof Aggregate known
            && RUNNING.contains(known.getAggregateType())
            && !H2Windows.isDistinct(aggregate);
    WindowFrame frame = H2Windows.frameOf(aggregate);
    return running && isRunning(frame) ? 0 : visitsOf(frame);
  }

  private static long visitsOf(WindowFunction function) {
    WindowFrame frame = H2Windows.frameOf(function);
    return switch (function.getFunctionType()) {
      case LEAD, LAG -> H2Windows.ignoresNulls(function) ? Long.MAX_VALUE : 0;
      case FIRST_VALUE, LAST_VALUE ->
          H2Windows.ignoresNulls(function) || !isRunning(frame) ? visitsOf(frame) : 0;
      case NTH_VALUE -> visitsOf(frame);
      default -> 0;
    };
  }

  /** True if one end of the frame stays where it is, so that H2 only adds rows. */
  private static boolean isRunning(@Nullable WindowFrame frame) {
    return frame == null
        || (!frame.isVariableBounds()
            && frame.getExclusion() == WindowFrameExclusion.EXCLUDE_NO_OTHERS
            && (frame.getStarting().getType() == WindowFrameBoundType.UNBOUNDED_PRECEDING
                || (frame.getFollowing() != null
                    && frame.getFollowing().getType()
                        == WindowFrameBoundType.UNBOUNDED_FOLLOWING)));
  }

  /**
   * Returns the rows of a frame. H2 finds the beginning of a frame of values by going through the
   * rows.
   */
  private static long visitsOf(@Nullable WindowFrame frame) {
    if (frame == null || frame.getUnits() != WindowFrameUnits.ROWS) {
      return Long.MAX_VALUE;
    }
    long before = distanceOf(frame.getStarting());
    long after = frame.getFollowing() == null ? 0 : distanceOf(frame.getFollowing());
    return before == Long.MAX_VALUE || after == Long.MAX_VALUE
        ? Long.MAX_VALUE
        : before + after + 1;
  }

  private static long distanceOf(WindowFrameBound bound) {
    return switch (bound.getType()) {
      case CURRENT_ROW -> 0;
      case PRECEDING, FOLLOWING ->
          bound.getValue() instanceof ValueExpression constant
              ? Math.min(Math.abs(constant.getValue(null).getLong()), Integer.MAX_VALUE)
              : Long.MAX_VALUE;
      case UNBOUNDED_PRECEDING, UNBOUNDED_FOLLOWING -> Long.MAX_VALUE;
    };
  }

  @Override
  public Value getValue(SessionLocal session) {
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter != null) {
      rows++;
      meter.revisited(Math.min(rows, mostVisits));
    }
    return metered().getValue(session);
  }
}
