package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Windows;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.statement.StatementWeight;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.h2.expression.Expression;
import org.h2.expression.ValueExpression;
import org.h2.expression.aggregate.AbstractAggregate;
import org.h2.expression.aggregate.Aggregate;
import org.h2.expression.aggregate.AggregateType;
import org.h2.expression.analysis.DataAnalysisOperation;
import org.h2.expression.analysis.WindowFrame;
import org.h2.expression.analysis.WindowFrameBound;
import org.h2.expression.analysis.WindowFrameBoundType;
import org.h2.expression.analysis.WindowFrameExclusion;
import org.h2.expression.analysis.WindowFrameUnits;
import org.h2.expression.analysis.WindowFunction;
import org.jspecify.annotations.Nullable;

/**
 * What aggregates and window functions cost for each row, besides the values that are computed. H2
 * keeps something for each row until it has all of them. For some window functions, H2 then goes
 * through the rows of the frame again for each row. Nothing is put into these functions: H2 looks
 * for plain columns in them, and counts their expressions before it runs the statement.
 *
 * <p>Partitions are not known here. Unless a frame has a constant number of rows, the n-th row that
 * a statement examines counts as n visits.
 */
final class GroupCost {
  /** Bytes of what H2 keeps for each row, besides the values that are computed. */
  private static final int KEPT_BYTES = 96;

  /** Aggregates that keep the values of all rows of a group. */
  private static final Set<AggregateType> KEEPING =
      EnumSet.of(
          AggregateType.HISTOGRAM,
          AggregateType.RANK,
          AggregateType.DENSE_RANK,
          AggregateType.PERCENT_RANK,
          AggregateType.CUME_DIST,
          AggregateType.PERCENTILE_CONT,
          AggregateType.PERCENTILE_DISC,
          AggregateType.MEDIAN,
          AggregateType.LISTAGG,
          AggregateType.ARRAY_AGG,
          AggregateType.MODE,
          AggregateType.JSON_OBJECTAGG,
          AggregateType.JSON_ARRAYAGG);

  /** Aggregates that divide, by the number of rows or by two. */
  private static final Set<AggregateType> DIVIDING =
      EnumSet.complementOf(
          EnumSet.of(
              AggregateType.SUM,
              AggregateType.MIN,
              AggregateType.MAX,
              AggregateType.ANY_VALUE,
              AggregateType.MODE,
              AggregateType.PERCENTILE_DISC));

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

  private long keptBytes;
  private long divisions;
  private final List<Long> visits = new ArrayList<>();

  /** Adds the cost of one function. */
  void add(DataAnalysisOperation operation) {
    boolean windowed = H2Windows.windowOf(operation) != null;
    keptBytes += windowed ? KEPT_BYTES : 0;
    if (operation instanceof AbstractAggregate aggregate) {
      boolean keeps = H2Windows.isDistinct(aggregate) || KEEPING.contains(typeOf(aggregate));
      keptBytes += keeps ? KEPT_BYTES + separatorBytes(aggregate) : 0;
      divisions += DIVIDING.contains(typeOf(aggregate)) ? DivisionMeter.rowsOf(aggregate) : 0;
    }
    long most = windowed ? visitsOf(operation) : 0;
    if (most > 0) {
      visits.add(most);
    }
  }

  /** Returns the weight of a statement with these functions and so many operations. */
  StatementWeight weight(int operations) {
    return new StatementWeight(operations, keptBytes, visits, divisions);
  }

  private static long visitsOf(DataAnalysisOperation operation) {
    return operation instanceof WindowFunction function
        ? visitsOf(function)
        : visitsOf((AbstractAggregate) operation);
  }

  /** Returns the size of the separator that LISTAGG writes between any two values. */
  private static long separatorBytes(AbstractAggregate aggregate) {
    Expression separator = H2Windows.separatorOf(aggregate);
    return separator instanceof ValueExpression constant
        ? Nesting.requireBytes(constant.getValue(null))
        : 0;
  }

  /** Returns its type; clients have no aggregates but those of H2. */
  private static AggregateType typeOf(AbstractAggregate aggregate) {
    return ((Aggregate) aggregate).getAggregateType();
  }

  private static long visitsOf(AbstractAggregate aggregate) {
    boolean running = RUNNING.contains(typeOf(aggregate)) && !H2Windows.isDistinct(aggregate);
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
}
