package dev.tollgate.jdbc;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.StatementSeries;
import dev.tollgate.transport.TransportException;
import dev.tollgate.value.Parameter;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/** Runs series of statements on the session of one connection. Thread-safe. */
final class SeriesRunner {
  /** The set of a statement without parameters. */
  static final byte[] NO_PARAMETERS = Parameter.encodeValues(List.of());

  private static final String COMMIT = "COMMIT";

  private final StatementRunner statements;
  private final ClusterSession cluster;
  private final TransactionState transaction;
  private final Supplier<Duration> timeout;
  private final Pipeline pipeline = new Pipeline(this::runPipelined);

  /** Waits for its definition, to be sent with it; null if none waits. */
  private @Nullable Mark mark;

  /** A change of rows that goes with the definition of this text. */
  private record Mark(String definition, Request.SeriesStatement change) {}

  /**
   * @param timeout time limit of a series, read when it runs
   */
  SeriesRunner(
      StatementRunner statements,
      ClusterSession cluster,
      TransactionState transaction,
      Supplier<Duration> timeout) {
    this.statements = statements;
    this.cluster = cluster;
    this.transaction = transaction;
    this.timeout = timeout;
  }

  /** The changes that wait to be sent. */
  Pipeline pipeline() {
    return pipeline;
  }

  /**
   * Runs a series.
   *
   * @return the results in order; null if the node is of a version without series, which has run
   *     nothing
   */
  @Nullable List<Series.Result> run(Series series, SeriesEnding ending) {
    return run(series, ending, transaction.mode());
  }

  private @Nullable List<Series.Result> run(
      Series series, SeriesEnding ending, TransactionMode mode) {
    boolean before = transaction.starts();
    try {
      Optional<Reply> reply =
          cluster.run(new StatementSeries(mode, ending, series.statements(), timeout.get()));
      if (reply.isEmpty()) {
        return null;
      }
      if (reply.get() instanceof Reply.Failure failure) {
        throw statements.failed(failure, null);
      }
      transaction.answered(reply.get(), before);
      return results(series, ending, reply.get());
    } catch (TransportException e) {
      throw JdbcErrors.forH2(e, null);
    }
  }

  /** Keeps a change of rows for a definition, in the place of one that was kept before. */
  synchronized void keepMark(String definition, String change, byte[] parameterSet) {
    mark = new Mark(definition, new Request.SeriesStatement(change, parameterSet));
  }

  /** Forgets the kept change; returns false if there is none, or if it was sent. */
  synchronized boolean dropMark() {
    boolean kept = mark != null;
    mark = null;
    return kept;
  }

  /** Takes the change that was kept for this statement; null if none was. */
  synchronized Request.@Nullable SeriesStatement takeMark(String sql) {
    Mark kept = mark;
    if (kept == null || !kept.definition().equals(sql)) {
      return null;
    }
    mark = null;
    return kept.change();
  }

  /**
   * Runs a definition and the change of rows that goes with it, and commits both.
   *
   * @return the update count of the definition
   */
  long defineMarked(Request.SeriesStatement change, String definition, byte[] parameterSet) {
    pipeline.flush();
    Series series = new Series();
    series.add(change.sql(), change.parameterSet());
    if (!series.add(definition, parameterSet)) {
      throw DbException.convert(
          JdbcErrors.exception(
              SqlState.TOO_LARGE,
              "The definition and its mark are too long for one request: make the definition"
                  + " shorter"));
    }
    TransactionMode mode = transaction.mode();
    List<Series.Result> results =
        run(
            series,
            SeriesEnding.COMMIT,
            mode == TransactionMode.AUTOCOMMIT ? TransactionMode.READ_COMMITTED : mode);
    if (results == null) {
      throw DbException.convert(
          JdbcErrors.exception(
              SqlState.NOT_SUPPORTED,
              "The node runs a version that knows no definition with a mark: nothing was run;"
                  + " upgrade the node"));
    }
    SQLException failure = results.get(results.size() - 1).failure();
    if (failure != null) {
      throw DbException.convert(failure);
    }
    return results.get(1).count();
  }

  private List<Series.Result> results(Series series, SeriesEnding ending, Reply reply) {
    int complete = series.size() + (ending == SeriesEnding.COMMIT ? 1 : 0);
    if (!(reply instanceof Reply.BatchResult batch)
        || batch.results().isEmpty()
        || batch.results().size() > complete) {
      throw StatementRunner.outOfPlace(reply);
    }
    List<Series.Result> results = new ArrayList<>();
    boolean failed = false;
    for (Reply result : batch.results()) {
      int number = results.size();
      String sql = number < series.size() ? series.statements().get(number).sql() : COMMIT;
      failed = result instanceof Reply.Failure;
      results.add(result(result, sql));
    }
    boolean stopped = failed && ending != SeriesEnding.RUN_ALL;
    if (results.size() < complete && !stopped) {
      throw StatementRunner.outOfPlace(reply);
    }
    return results;
  }

  private Series.Result result(Reply result, String sql) {
    if (result instanceof Reply.Failure failure) {
      return new Series.Result(0, statements.failed(failure, sql).getSQLException());
    }
    if (result instanceof Reply.Result done
        && statements.read(done.body()) instanceof StatementResult.Updated updated) {
      return new Series.Result(updated.count(), null);
    }
    throw StatementRunner.outOfPlace(result);
  }

  /** Runs a series of the pipeline; one by one if the node is of a version without series. */
  private List<Series.Result> runPipelined(Series series, SeriesEnding ending) {
    List<Series.Result> together = run(series, ending);
    if (together != null) {
      return together;
    }
    List<Series.Result> results = new ArrayList<>();
    for (Request.SeriesStatement statement : series.statements()) {
      results.add(runAlone(statement.sql(), statement.parameterSet()));
      if (results.get(results.size() - 1).failure() != null) {
        return results;
      }
    }
    if (ending == SeriesEnding.COMMIT) {
      results.add(runAlone(COMMIT, NO_PARAMETERS));
    }
    return results;
  }

  private Series.Result runAlone(String sql, byte[] parameterSet) {
    ClusterSession.Statement statement =
        new ClusterSession.Statement(
            sql,
            transaction.mode(),
            /* batch= */ false,
            new KeyRequest.None(),
            /* maxRows= */ 0,
            /* pageRows= */ 0,
            List.of(parameterSet),
            timeout.get());
    try {
      return result(statements.runNow(statement, StatementKind.CHANGE), sql);
    } catch (DbException e) {
      return new Series.Result(0, e.getSQLException());
    }
  }
}
