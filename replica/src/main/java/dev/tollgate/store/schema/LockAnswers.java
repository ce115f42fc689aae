package dev.tollgate.store.schema;

import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.value.Column;
import dev.tollgate.value.Parameter;
import dev.tollgate.value.RowSet;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.WireWriter;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.h2.command.CommandInterface;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueBigint;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;

/** The results of the lock functions as SQL sees them. */
public final class LockAnswers {
  private static final Parameter UNKNOWN =
      new Parameter(TypeInfo.TYPE_UNKNOWN, ResultSetMetaData.columnNullableUnknown);

  /** What a lock function returns. */
  public enum Kind {
    YES_OR_NO(TypeInfo.TYPE_BOOLEAN),
    NUMBER(TypeInfo.TYPE_BIGINT),
    /** A number, from a call that has begun a transaction. */
    NUMBER_OF_TRANSACTION(TypeInfo.TYPE_BIGINT),
    NUMBERS(TypeInfo.getTypeInfo(Value.ARRAY, -1, 0, TypeInfo.TYPE_BIGINT));

    @SuppressWarnings("ImmutableEnumChecker") // H2's types do not change
    private final TypeInfo type;

    Kind(TypeInfo type) {
      this.type = type;
    }
  }

  private LockAnswers() {}

  /**
   * The value of a lock function.
   *
   * @throws SQLException if the operation was refused
   */
  static Value valueOf(Outcome outcome) throws SQLException {
    if (outcome instanceof Outcome.Granted granted) {
      return ValueBigint.get(granted.token().value());
    }
    if (outcome instanceof Outcome.GrantedAll granted) {
      return numbers(granted.tokens());
    }
    if (outcome instanceof Outcome.NotGranted) {
      return ValueNull.INSTANCE;
    }
    if (outcome instanceof Outcome.Answered answered) {
      return ValueBoolean.get(answered.answer());
    }
    if (outcome instanceof Outcome.LeaseCreated created) {
      return ValueBigint.get(created.lease().value());
    }
    if (outcome instanceof Outcome.Refused refused) {
      throw SqlErrors.exception(SqlErrors.stateOf(refused.code()), refused.message());
    }
    throw new IllegalStateException("no SQL value: " + outcome);
  }

  private static Value numbers(List<FencingToken> tokens) {
    Value[] values = tokens.stream().map(t -> ValueBigint.get(t.value())).toArray(Value[]::new);
    return ValueArray.get(TypeInfo.TYPE_BIGINT, values, null);
  }

  /**
   * The result of a lock function that stands alone in its statement: one row of one column.
   *
   * @throws SQLException if the operation was refused
   */
  public static byte[] resultOf(Outcome outcome, Kind kind, String label) throws SQLException {
    return single(label, kind, valueOf(outcome));
  }

  /** The result of a renew_lease call that stands alone; null if there is no number. */
  public static byte[] resultOf(@Nullable Long number, String label) {
    return single(
        label, Kind.NUMBER, number == null ? ValueNull.INSTANCE : ValueBigint.get(number));
  }

  private static byte[] single(String label, Kind kind, Value value) {
    WireWriter out = new WireWriter(64);
    RowSet.writeSingle(
        kind == Kind.NUMBER_OF_TRANSACTION
            ? StatementResult.beginChangedRows(out)
            : StatementResult.beginRows(out),
        column(label, kind),
        value);
    return out.toByteArray();
  }

  private static Column column(String label, Kind kind) {
    return new Column(label, null, null, null, kind.type, false, ResultSetMetaData.columnNullable);
  }

  /** The description of a lock function that stands alone. */
  public static Reply.Prepared describe(String label, Kind kind, int parameterCount) {
    WireWriter columns = new WireWriter();
    RowSet.writeColumns(columns, List.of(column(label, kind)));
    return new Reply.Prepared(
        true, CommandInterface.SELECT, unknown(parameterCount), columns.toByteArray());
  }

  /** The description of a statement that returns no rows and that the database does not know. */
  public static Reply.Prepared describeCommand(int parameterCount) {
    return new Reply.Prepared(false, CommandInterface.SET, unknown(parameterCount), new byte[0]);
  }

  /** Adds parameters of unknown type to a description until there are this many. */
  public static byte[] withMoreParameters(byte[] description, int parameterCount) {
    List<Parameter> parameters = new ArrayList<>(Parameter.decode(description));
    while (parameters.size() < parameterCount) {
      parameters.add(UNKNOWN);
    }
    return Parameter.encode(parameters);
  }

  private static byte[] unknown(int parameterCount) {
    return Parameter.encode(Collections.nCopies(parameterCount, UNKNOWN));
  }
}
