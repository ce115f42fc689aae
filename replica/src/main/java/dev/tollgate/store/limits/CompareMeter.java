package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Functions;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.H2Windows;
import dev.tollgate.store.statement.StatementMeter;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.h2.command.query.Query;
import org.h2.command.query.Select;
import org.h2.command.query.SelectUnion;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionColumn;
import org.h2.expression.aggregate.Aggregate;
import org.h2.expression.aggregate.AggregateType;
import org.h2.expression.analysis.DataAnalysisOperation;
import org.h2.expression.analysis.Window;
import org.h2.value.Value;

/**
 * A column whose values H2 compares with those of other rows: for DISTINCT, UNION, GROUP BY, ORDER
 * BY, and in aggregates and windows. A join repeats a stored value without making a new one, so no
 * other meter sees it, and comparing two megabytes that differ in the last character takes as long
 * as reading them. Values that a query makes count when they are made: {@link ValueMeter}.
 */
final class CompareMeter extends MeteredExpression {
  /** Aggregates that compare the values of a group even without DISTINCT. */
  private static final Set<AggregateType> COMPARING =
      EnumSet.of(
          AggregateType.MIN,
          AggregateType.MAX,
          AggregateType.MODE,
          AggregateType.HISTOGRAM,
          AggregateType.MEDIAN,
          AggregateType.RANK,
          AggregateType.DENSE_RANK,
          AggregateType.PERCENT_RANK,
          AggregateType.CUME_DIST,
          AggregateType.PERCENTILE_CONT,
          AggregateType.PERCENTILE_DISC);

  private CompareMeter(Expression column) {
    super(column);
  }

  /** Meters the columns by which a query compares its rows. */
  static void attach(Query query) {
    if (query instanceof SelectUnion union) {
      BitSet compared = H2Statements.comparedColumns(union);
      attach(union.getLeft(), compared);
      attach(union.getRight(), compared);
    } else {
      attach(query, H2Statements.comparedColumns(query));
    }
  }

  private static void attach(Query query, BitSet compared) {
    if (query instanceof SelectUnion union) {
      attach(union.getLeft(), compared);
      attach(union.getRight(), compared);
    } else if (query instanceof Select select) {
      List<Expression> expressions = select.getExpressions();
      compared.stream()
          .takeWhile(column -> column < expressions.size())
          .forEach(column -> expressions.set(column, of(expressions.get(column))));
    }
  }

  /** Meters what an aggregate or a window function compares. */
  static void attach(DataAnalysisOperation operation) {
    Window window = H2Windows.windowOf(operation);
    if (window != null) {
      H2Windows.partitionOf(window).replaceAll(CompareMeter::of);
      H2Windows.replaceKeys(H2Windows.orderOf(window), CompareMeter::of);
    }
    // H2 takes the result of a quick query from an index, which it finds by the plain column
    if (operation instanceof Aggregate aggregate && !H2Windows.isQuick(aggregate)) {
      H2Windows.replaceKeys(H2Windows.orderOf(aggregate), CompareMeter::of);
      if (COMPARING.contains(aggregate.getAggregateType()) || H2Windows.isDistinct(aggregate)) {
        Arrays.asList(H2Functions.arguments(aggregate)).replaceAll(CompareMeter::of);
      }
    }
  }

  private static Expression of(Expression expression) {
    return expression.getNonAliasExpression() instanceof ExpressionColumn
            && !SizeMeter.isSmall(expression.getType())
            && !has(expression, CompareMeter.class)
        ? new CompareMeter(expression)
        : expression;
  }

  @Override
  public Value getValue(SessionLocal session) {
    return measured(session, StatementMeter::compared);
  }
}
