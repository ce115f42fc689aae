package dev.tollgate.store.h2;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.h2.command.query.QueryOrderBy;
import org.h2.expression.Expression;
import org.h2.expression.aggregate.AbstractAggregate;
import org.h2.expression.aggregate.Aggregate;
import org.h2.expression.aggregate.ListaggArguments;
import org.h2.expression.analysis.DataAnalysisOperation;
import org.h2.expression.analysis.Window;
import org.jspecify.annotations.Nullable;

/** Accesses H2's window functions, and the order in which aggregates take their rows. */
public final class H2Windows {
  private static final VarHandle WINDOW =
      H2Fields.field(DataAnalysisOperation.class, "over", Window.class);
  private static final VarHandle PARTITION =
      H2Fields.field(Window.class, "partitionBy", ArrayList.class);
  private static final VarHandle AGGREGATE_ORDER =
      H2Fields.field(Aggregate.class, "orderByList", ArrayList.class);
  private static final VarHandle MORE_ARGUMENTS =
      H2Fields.field(Aggregate.class, "extraArguments", Object.class);
  private static final VarHandle DISTINCT =
      H2Fields.field(AbstractAggregate.class, "distinct", boolean.class);

  private H2Windows() {}

  /** The window that a function is computed over; null for a plain aggregate. */
  public static @Nullable Window windowOf(DataAnalysisOperation operation) {
    return (@Nullable Window) WINDOW.get(operation);
  }

  /** The expressions after PARTITION BY themselves, not a copy. */
  @SuppressWarnings("unchecked")
  public static List<Expression> partitionOf(Window window) {
    ArrayList<Expression> keys = (@Nullable ArrayList<Expression>) PARTITION.get(window);
    return keys == null ? new ArrayList<>() : keys;
  }

  /** What the rows of a window are ordered by. */
  public static List<QueryOrderBy> orderOf(Window window) {
    List<QueryOrderBy> order = window.getOrderBy();
    return order == null ? List.of() : order;
  }

  /** What an aggregate orders its rows by. */
  @SuppressWarnings("unchecked")
  public static List<QueryOrderBy> orderOf(Aggregate aggregate) {
    ArrayList<QueryOrderBy> order =
        (@Nullable ArrayList<QueryOrderBy>) AGGREGATE_ORDER.get(aggregate);
    return order == null ? List.of() : order;
  }

  /** Replaces the expressions by which rows are ordered. */
  public static void replaceKeys(List<QueryOrderBy> order, UnaryOperator<Expression> replacement) {
    for (QueryOrderBy key : order) {
      if (key.expression != null) {
        key.expression = replacement.apply(key.expression);
      }
    }
  }

  /** Returns the separator of LISTAGG; null for the comma and for other aggregates. */
  public static @Nullable Expression separatorOf(AbstractAggregate aggregate) {
    Object more = aggregate instanceof Aggregate known ? MORE_ARGUMENTS.get(known) : null;
    return more instanceof ListaggArguments arguments ? arguments.getSeparator() : null;
  }

  public static boolean isDistinct(AbstractAggregate aggregate) {
    return (boolean) DISTINCT.get(aggregate);
  }
}
