package dev.tollgate.jdbc;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.value.Parameter;
import dev.tollgate.value.RowSet;
import dev.tollgate.value.StatementResult;
import dev.tollgate.value.ValueCount;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.h2.api.ErrorCode;
import org.h2.command.CommandInterface;
import org.h2.expression.ParameterInterface;
import org.h2.message.DbException;
import org.h2.message.Trace;
import org.h2.result.BatchResult;
import org.h2.result.MergedResult;
import org.h2.result.ResultInterface;
import org.h2.result.ResultWithGeneratedKeys;
import org.h2.value.Value;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;

/**
 * A statement of the application. The driver asks the node about it once, when it needs a fact that
 * the first word does not tell. For a prepared statement that is when it is prepared. Not
 * thread-safe, except for {@link #cancel}.
 */
@SuppressWarnings("NonApiType") // H2's interface says ArrayList
final class TollgateCommand implements CommandInterface {
  /** Room in a frame for everything except the parameter sets and the text. */
  private static final int FRAME_OVERHEAD_BYTES = 4096;

  private static final int MAX_BYTES_PER_CHAR = 3;

  /** The fetch size of a statement whose rows are all fetched when the query runs. */
  static final int ALL_ROWS = Integer.MAX_VALUE;

  private final StatementRunner runner;
  private final String sql;
  private final Supplier<Duration> timeout;
  private final StatementKind kind;
  private @Nullable ArrayList<TollgateParameter> parameters;
  private @Nullable PreparedInfo info;

  /** True if the node described this statement, not an earlier one with the same text. */
  private boolean asked;

  /**
   * @param timeout read when the statement runs
   */
  TollgateCommand(StatementRunner runner, String sql, Supplier<Duration> timeout) {
    this.runner = runner;
    this.sql = sql;
    this.timeout = timeout;
    this.kind = StatementKind.of(sql);
  }

  private PreparedInfo info() {
    if (info == null) {
      info = runner.prepared(sql);
    }
    return info == null ? ask() : info;
  }

  private PreparedInfo ask() {
    PreparedInfo answer = runner.prepare(sql);
    info = answer;
    asked = true;
    return answer;
  }

  @Override
  public int getCommandType() {
    return info().commandType();
  }

  @Override
  public boolean isQuery() {
    return switch (kind) {
      case QUERY -> true;
      case CHANGE, DEFINITION -> false;
      case CALL, UNKNOWN -> info().query();
    };
  }

  @Override
  public ArrayList<? extends ParameterInterface> getParameters() {
    ArrayList<TollgateParameter> known = parameters;
    if (known == null) {
      known = new ArrayList<>();
      for (Parameter description : info().parameters()) {
        known.add(new TollgateParameter(known.size() + 1, description));
      }
      if (!known.isEmpty() && StatementKind.hasOutParameter(sql)) {
        known.get(0).setValue(ValueNull.INSTANCE, false);
      }
      parameters = known;
    }
    return known;
  }

  /**
   * Encodes the values that were set. Without a {@link #getParameters} call, the node reports a
   * missing value. What a call returns needs no value.
   */
  private byte[] parameterSet() {
    List<TollgateParameter> known = parameters;
    if (known == null) {
      return Parameter.encodeValues(
          StatementKind.hasOutParameter(sql) ? List.of(ValueNull.INSTANCE) : List.of());
    }
    List<Value> values = new ArrayList<>(known.size());
    for (TollgateParameter parameter : known) {
      Value value = parameter.getParamValue();
      if (value == null && info().commandType() == CommandInterface.EXPLAIN) {
        value = ValueNull.INSTANCE;
      }
      values.add(value == null ? parameter.requireValue() : value);
    }
    return Parameter.encodeValues(values);
  }

  @Override
  public ResultInterface executeQuery(long maxRows, int fetchSize, boolean scrollable) {
    if (kind != StatementKind.CALL && !isQuery()) {
      requireValues();
      throw DbException.get(ErrorCode.METHOD_ONLY_ALLOWED_FOR_QUERY);
    }
    int pageRows = scrollable || fetchSize == ALL_ROWS ? 0 : fetchSize;
    ClusterSession.Statement statement =
        statement(false, new KeyRequest.None(), maxRows, pageRows, List.of(parameterSet()));
    // a statement that the node treats as a query changes no schema, whatever its first word
    StatementKind known = kind == StatementKind.CALL ? kind : StatementKind.QUERY;
    return runner.query(statement, known, pageRows == 0);
  }

  @Override
  public ResultWithGeneratedKeys executeUpdate(@Nullable Object generatedKeysRequest) {
    requireNoQuery();
    Long marked = kind.mayDefine() ? runner.defineMarked(sql, parameterSet()) : null;
    if (marked != null) {
      return ResultWithGeneratedKeys.of(marked);
    }
    if (isPipelined(generatedKeysRequest)) {
      runner.pipeline().add(sql, parameterSet());
      return ResultWithGeneratedKeys.of(Statement.SUCCESS_NO_INFO);
    }
    ClusterSession.Statement statement =
        statement(false, keys(generatedKeysRequest), 0, 0, List.of(parameterSet()));
    Reply reply = runner.run(statement, kind);
    if (!(reply instanceof Reply.Result result)) {
      throw StatementRunner.outOfPlace(reply);
    }
    StatementResult outcome = runner.read(result.body());
    if (outcome instanceof StatementResult.Updated updated) {
      RowSet keys = updated.keys();
      return keys == null
          ? ResultWithGeneratedKeys.of(updated.count())
          : new ResultWithGeneratedKeys.WithKeys(updated.count(), rows(keys));
    }
    return ResultWithGeneratedKeys.of(countOfCall((StatementResult.Rows) outcome));
  }

  private boolean isPipelined(@Nullable Object generatedKeysRequest) {
    return runner.pipeline().isOn()
        && keys(generatedKeysRequest) instanceof KeyRequest.None
        && StatementKind.isForSeries(sql);
  }

  /** Requires a value of each parameter, as H2 does before it looks for rows. */
  private void requireValues() {
    if (sql.indexOf('?') >= 0) {
      getParameters();
      parameterSet();
    }
  }

  private void requireNoQuery() {
    if (kind != StatementKind.CALL && isQuery()) {
      throw DbException.get(ErrorCode.METHOD_NOT_ALLOWED_FOR_QUERY);
    }
  }

  /** The count that H2 returns for executeUpdate("CALL ..."): the value, if it is a number. */
  private static long countOfCall(StatementResult.Rows called) {
    List<Value[]> rows = called.rows().page().rows();
    boolean nothing =
        rows.isEmpty() || rows.get(0).length == 0 || rows.get(0)[0].getValueType() == Value.NULL;
    return nothing ? 0 : rows.get(0)[0].getLong();
  }

  @Override
  public BatchResult executeBatchUpdate(
      ArrayList<Value[]> batchParameters, @Nullable Object generatedKeysRequest) {
    if (kind != StatementKind.CALL && isQuery()) {
      return refusedBatch(batchParameters.size());
    }
    runner.pipeline().flush();
    Batch batch = new Batch(batchParameters.size(), keys(generatedKeysRequest));
    List<byte[]> sets = new ArrayList<>();
    long room = roomForSets();
    int values = 0;
    for (Value[] parameters : batchParameters) {
      byte[] set = Parameter.encodeValues(Arrays.asList(parameters));
      int more = ValueCount.of(set, Protocol.MAX_VALUES);
      room -= Integer.BYTES + set.length;
      values += more;
      if (!sets.isEmpty()
          && (room < 0 || values > Protocol.MAX_VALUES || sets.size() == Protocol.MAX_BATCH_SETS)) {
        batch.run(sets);
        sets.clear();
        room = roomForSets() - Integer.BYTES - set.length;
        values = more;
      }
      sets.add(set);
    }
    batch.run(sets);
    return batch.result();
  }

  /** Rejects a batch of a query as H2 does: every set fails, and the batch reports each failure. */
  private BatchResult refusedBatch(int size) {
    long[] counts = new long[size];
    Arrays.fill(counts, Statement.EXECUTE_FAILED);
    SQLException query =
        DbException.get(ErrorCode.METHOD_NOT_ALLOWED_FOR_QUERY)
            .addSQL(ShownSql.of(sql))
            .getSQLException();
    return new BatchResult(counts, null, Collections.nCopies(size, query));
  }

  private long roomForSets() {
    return Protocol.MAX_FRAME_BYTES
        - FRAME_OVERHEAD_BYTES
        - (long) sql.length() * MAX_BYTES_PER_CHAR;
  }

  /** One execution of a batch, which may take several requests. */
  private final class Batch {
    private final KeyRequest request;
    private final BatchOutcome outcome;
    private final int size;
    private final @Nullable MergedResult keys;

    Batch(int size, KeyRequest request) {
      this.size = size;
      this.request = request;
      outcome = new BatchOutcome(size);
      keys = request instanceof KeyRequest.None ? null : new MergedResult();
    }

    /** Runs the next sets, unless the session has ended under those before them. */
    void run(List<byte[]> sets) {
      if (outcome.done() == size) {
        return;
      }
      int before = outcome.done();
      try {
        for (Reply reply : replies(sets)) {
          if (reply instanceof Reply.Failure failure) {
            outcome.failed(JdbcErrors.exception(failure, sql, null));
          } else {
            outcome.succeeded(count((Reply.Result) reply));
          }
        }
      } catch (DbException e) {
        outcome.failedTogether(before + sets.size() - outcome.done(), e.getSQLException());
      }
    }

    private List<Reply> replies(List<byte[]> sets) {
      Reply reply = runner.run(statement(true, request, 0, 0, sets), kind);
      if (!(reply instanceof Reply.BatchResult batch) || batch.results().size() != sets.size()) {
        throw StatementRunner.outOfPlace(reply);
      }
      return batch.results();
    }

    private long count(Reply.Result reply) {
      StatementResult answer = runner.read(reply.body());
      if (!(answer instanceof StatementResult.Updated updated)) {
        return countOfCall((StatementResult.Rows) answer);
      }
      RowSet generated = updated.keys();
      if (keys != null && generated != null) {
        keys.add(rows(generated));
      }
      return updated.count();
    }

    BatchResult result() {
      return new BatchResult(
          outcome.counts(), keys == null ? null : keys.getResult(), outcome.failures());
    }
  }

  private static PagedResult rows(RowSet rows) {
    return PagedResult.complete(rows.columns(), rows.page().rows());
  }

  private ClusterSession.Statement statement(
      boolean batch, KeyRequest keys, long maxRows, int pageRows, List<byte[]> sets) {
    return new ClusterSession.Statement(
        sql, runner.mode(), batch, keys, maxRows, pageRows, sets, timeout.get());
  }

  /** Converts what H2's statements request as generated keys: a flag, positions, or names. */
  private static KeyRequest keys(@Nullable Object request) {
    if (request instanceof int[] positions) {
      return new KeyRequest.Positions(Arrays.stream(positions).boxed().toList());
    }
    if (request instanceof String[] names) {
      return new KeyRequest.Names(List.of(names));
    }
    return Boolean.TRUE.equals(request) ? new KeyRequest.Generated() : new KeyRequest.None();
  }

  /** The columns as of the preparation of this statement, or later; others may change them. */
  @Override
  public @Nullable ResultInterface getMetaData() {
    if (!isQuery()) {
      return null;
    }
    // H2 asks whenever an out parameter is registered; a call's columns come from no table
    PreparedInfo known = asked || kind == StatementKind.CALL ? runner.prepared(sql) : null;
    return PagedResult.complete((known == null ? ask() : known).columns(), List.of());
  }

  @Override
  public void stop(boolean commitIfAutoCommit) {}

  @Override
  public void close() {}

  @Override
  public void cancel() {
    runner.cancel();
  }

  /** Returns what H2's statements show: the SQL, with the values that were set, as in H2. */
  @Override
  public String toString() {
    ArrayList<TollgateParameter> known = parameters;
    return known == null || known.isEmpty() ? sql : sql + Trace.formatParams(known);
  }
}
