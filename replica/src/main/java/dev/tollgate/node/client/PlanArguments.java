package dev.tollgate.node.client;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.sql.Argument;
import dev.tollgate.sql.ObjectName;
import dev.tollgate.sql.StatementFence;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.h2.TimeZones;
import dev.tollgate.store.schema.LockArguments;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Resolves the arguments in a plan once the parameters are known. */
final class PlanArguments {
  private PlanArguments() {}

  /**
   * The values of a plan's arguments, with those of parameters filled in.
   *
   * @throws SQLException if the elements of an array have no common type
   */
  static List<SqlValue> values(List<Argument> arguments, List<SqlValue> parameters)
      throws SQLException {
    List<SqlValue> values = new ArrayList<>(arguments.size());
    for (Argument argument : arguments) {
      values.add(value(argument, parameters));
    }
    return values;
  }

  static SqlValue value(Argument argument, List<SqlValue> parameters) throws SQLException {
    return argument instanceof Argument.Array array
        ? SqlValue.ofArray(values(array.elements(), parameters))
        : single(argument, parameters);
  }

  private static SqlValue single(Argument argument, List<SqlValue> parameters) {
    return argument.handledBy(
        new Argument.Handler<SqlValue>() {
          @Override
          public SqlValue integral(Argument.Integral integral) {
            return SqlValue.ofNumber(integral.value());
          }

          @Override
          public SqlValue text(Argument.Text text) {
            return SqlValue.ofText(text.value());
          }

          @Override
          public SqlValue interval(Argument.Interval interval) {
            return SqlValue.ofInterval(interval.millis());
          }

          @Override
          public SqlValue flag(Argument.Flag flag) {
            return SqlValue.ofText(Boolean.toString(flag.value()));
          }

          @Override
          public SqlValue array(Argument.Array array) {
            throw new IllegalStateException("an array is no single value");
          }

          @Override
          public SqlValue nothing(Argument.Null nothing) {
            return SqlValue.ofNull();
          }

          @Override
          public SqlValue parameter(Argument.Parameter parameter) {
            return parameters.get(parameter.index());
          }
        });
  }

  /**
   * The fence of a statement.
   *
   * @throws SQLException if the lock name or the token is invalid
   */
  static Operation.@Nullable StatementFence fence(
      @Nullable StatementFence fence, List<SqlValue> parameters) throws SQLException {
    if (fence == null) {
      return null;
    }
    return new Operation.StatementFence(
        new PresentedToken(
            LockArguments.lockName(value(fence.lock(), parameters)),
            LockArguments.token(value(fence.token(), parameters))),
        fence.monotonic());
  }

  /**
   * The lock that a statement takes with LOCKED BY, or null.
   *
   * @throws SQLException if the lock name is invalid
   */
  static @Nullable LockName lockOrNull(@Nullable Argument lock, List<SqlValue> parameters)
      throws SQLException {
    return lock == null ? null : LockArguments.lockName(value(lock, parameters));
  }

  /**
   * The time in SET LOCK_TIMEOUT.
   *
   * @throws SQLException if it is no number of milliseconds up to an hour
   */
  static Operation.SetLockTimeout lockTimeout(Argument argument, List<SqlValue> parameters)
      throws SQLException {
    long millis = LockArguments.millis("lock timeout", value(argument, parameters));
    if (millis < 0 || millis > Limits.LOCK_WAIT_MAX_MILLIS) {
      throw SqlErrors.invalid("lock timeout is " + millis + " ms: it has to be 0 to one hour");
    }
    return new Operation.SetLockTimeout(millis);
  }

  /**
   * The zone in SET TIME ZONE, by the name that H2 gives it.
   *
   * @throws SQLException if there is no such zone
   */
  static Operation.SetTimeZone timeZone(Argument argument, List<SqlValue> parameters)
      throws SQLException {
    return new Operation.SetTimeZone(
        argument instanceof Argument.Null ? null : TimeZones.named(value(argument, parameters)));
  }

  /**
   * The name in SET SCHEMA.
   *
   * @throws SQLException if the value is no name, or one that no session may have as its schema
   */
  static String schemaName(Argument argument, List<SqlValue> parameters) throws SQLException {
    String name = value(argument, parameters).textOrNull();
    if (name == null) {
      throw SqlErrors.invalid("the schema is not named by a character string");
    }
    if (ObjectName.isReservedSchema(name)) {
      throw SqlErrors.invalid(
          "schema "
              + name
              + " shows the state of the node that answers: write its name before that"
              + " of the view instead");
    }
    return name;
  }
}
