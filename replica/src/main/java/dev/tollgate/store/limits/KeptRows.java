package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Windows;
import dev.tollgate.store.h2.Nesting;
import java.util.EnumSet;
import java.util.Set;
import org.h2.expression.Expression;
import org.h2.expression.ValueExpression;
import org.h2.expression.aggregate.AbstractAggregate;
import org.h2.expression.aggregate.Aggregate;
import org.h2.expression.aggregate.AggregateType;
import org.h2.expression.analysis.DataAnalysisOperation;

/**
 * What aggregates and window functions keep for each row, besides the values that are computed. H2
 * keeps it until it has all rows.
 */
final class KeptRows {
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

  private long keptBytes;

  /** Adds what one function keeps. */
  void add(DataAnalysisOperation operation) {
    keptBytes += H2Windows.windowOf(operation) != null ? KEPT_BYTES : 0;
    if (operation instanceof AbstractAggregate aggregate
        && (H2Windows.isDistinct(aggregate) || KEEPING.contains(typeOf(aggregate)))) {
      keptBytes += KEPT_BYTES + separatorBytes(aggregate);
    }
  }

  /** The bytes that the functions keep for each row. */
  long keptBytes() {
    return keptBytes;
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
}
