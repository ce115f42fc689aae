package dev.tollgate.store.h2;

import java.lang.invoke.VarHandle;
import org.h2.expression.Expression;
import org.h2.expression.OperationN;
import org.h2.expression.aggregate.AbstractAggregate;
import org.h2.expression.analysis.DataAnalysisOperation;
import org.h2.expression.analysis.WindowFunction;
import org.h2.expression.function.CastSpecification;
import org.h2.expression.function.JavaFunction;
import org.h2.schema.Domain;
import org.jspecify.annotations.Nullable;

/** Accesses the operands of H2's functions, aggregates and LIKE. */
public final class H2Functions {
  private static final VarHandle AGGREGATE_ARGUMENTS =
      H2Fields.field(AbstractAggregate.class, "args", Expression[].class);
  private static final VarHandle WINDOW_ARGUMENTS =
      H2Fields.field(WindowFunction.class, "args", Expression[].class);
  private static final VarHandle FUNCTION_ARGUMENTS =
      H2Fields.field(OperationN.class, "args", Expression[].class);
  private static final VarHandle JAVA_ARGUMENTS =
      H2Fields.field(JavaFunction.class, "args", Expression[].class);

  private static final VarHandle CAST_DOMAIN =
      H2Fields.field(CastSpecification.class, "domain", Domain.class);

  private H2Functions() {}

  /** A domain to which a parsed expression casts something, or null. */
  public static @Nullable Domain domainIn(Expression parsed) {
    for (Object part : H2Parts.within(parsed)) {
      Domain domain =
          part instanceof CastSpecification cast ? (@Nullable Domain) CAST_DOMAIN.get(cast) : null;
      if (domain != null) {
        return domain;
      }
    }
    return null;
  }

  /** The arguments of an aggregate or a window function themselves, not a copy. */
  public static Expression[] arguments(DataAnalysisOperation operation) {
    Object arguments =
        operation instanceof WindowFunction window
            ? WINDOW_ARGUMENTS.get(window)
            : AGGREGATE_ARGUMENTS.get((AbstractAggregate) operation);
    return arguments == null ? new Expression[0] : (Expression[]) arguments;
  }

  /** The arguments of a function themselves, not a copy. */
  public static Expression[] arguments(OperationN function) {
    return (Expression[]) FUNCTION_ARGUMENTS.get(function);
  }

  /** The arguments of a function written in Java themselves, not a copy. */
  public static Expression[] arguments(JavaFunction function) {
    return (Expression[]) JAVA_ARGUMENTS.get(function);
  }
}
