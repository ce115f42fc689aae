package dev.tollgate.jdbc;

import dev.tollgate.value.Parameter;
import java.sql.ResultSetMetaData;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.h2.api.ErrorCode;
import org.h2.command.CommandInterface;
import org.h2.expression.ParameterInterface;
import org.h2.message.DbException;
import org.h2.result.BatchResult;
import org.h2.result.ResultInterface;
import org.h2.result.ResultWithGeneratedKeys;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * A statement of H2's JDBC classes or of the application that this side carries out itself. It
 * needs no round trip, except to end an open transaction or to read a setting other than
 * QUERY_TIMEOUT.
 */
@SuppressWarnings("NonApiType") // H2's interface says ArrayList
final class SessionFact implements CommandInterface {
  private final ArrayList<ParameterInterface> parameters = new ArrayList<>();
  private final boolean query;
  private final Function<List<Value>, ResultInterface> reading;
  private final ToLongFunction<List<Value>> writing;

  private SessionFact(
      int parameterCount,
      boolean query,
      Function<List<Value>, ResultInterface> reading,
      ToLongFunction<List<Value>> writing) {
    for (int i = 1; i <= parameterCount; i++) {
      parameters.add(
          new TollgateParameter(
              i, new Parameter(TypeInfo.TYPE_UNKNOWN, ResultSetMetaData.columnNullableUnknown)));
    }
    this.query = query;
    this.reading = reading;
    this.writing = writing;
  }

  /** A query with one parameter. */
  static SessionFact reading(Function<Value, ResultInterface> answer) {
    return new SessionFact(1, true, values -> answer.apply(values.get(0)), values -> 0);
  }

  /** A setting with one parameter. */
  static SessionFact setting(ToLongFunction<Value> action) {
    return new SessionFact(
        1, false, SessionFact::noRows, values -> action.applyAsLong(values.get(0)));
  }

  /** A statement without parameters. */
  static SessionFact action(Runnable action) {
    return new SessionFact(
        0,
        false,
        SessionFact::noRows,
        values -> {
          action.run();
          return 0;
        });
  }

  private static ResultInterface noRows(List<Value> values) {
    throw DbException.get(ErrorCode.METHOD_ONLY_ALLOWED_FOR_QUERY);
  }

  private List<Value> values() {
    return parameters.stream().map(p -> ((TollgateParameter) p).requireValue()).toList();
  }

  @Override
  public int getCommandType() {
    return CommandInterface.UNKNOWN;
  }

  @Override
  public boolean isQuery() {
    return query;
  }

  @Override
  public ArrayList<? extends ParameterInterface> getParameters() {
    return parameters;
  }

  @Override
  public ResultInterface executeQuery(long maxRows, int fetchSize, boolean scrollable) {
    return reading.apply(values());
  }

  @Override
  public ResultWithGeneratedKeys executeUpdate(@Nullable Object generatedKeysRequest) {
    return ResultWithGeneratedKeys.of(writing.applyAsLong(values()));
  }

  @Override
  public BatchResult executeBatchUpdate(
      ArrayList<Value[]> batchParameters, @Nullable Object generatedKeysRequest) {
    long[] counts = new long[batchParameters.size()];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = writing.applyAsLong(List.of(batchParameters.get(i)));
    }
    return new BatchResult(counts, null, List.of());
  }

  @Override
  public void stop(boolean commitIfAutoCommit) {}

  @Override
  public void close() {}

  @Override
  public void cancel() {}

  @Override
  public @Nullable ResultInterface getMetaData() {
    return null;
  }
}
