package dev.tollgate.jdbc;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.List;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/**
 * The statements of a transaction whose results the application does not wait for. They are
 * gathered, and sent as a series with the commit, or before the next statement that needs a result.
 *
 * <p>Fails closed: after a failure, nothing but a rollback is possible, because the application has
 * gone on without the results. Thread-safe.
 */
final class Pipeline {
  /** Carries out a series. */
  interface Run {
    /** Returns the results up to the first failure, and one for the commit if it came to that. */
    List<Series.Result> run(Series series, SeriesEnding ending);
  }

  private final Run runner;
  private boolean on;
  private boolean paused;
  private Series gathered = new Series();
  private @Nullable SQLException failure;

  Pipeline(Run runner) {
    this.runner = runner;
  }

  /** Gathers statements from now on, until {@link #end}. */
  synchronized void begin() {
    on = true;
  }

  synchronized boolean isOn() {
    return on && !paused;
  }

  /** Sends what is gathered, and gathers nothing until {@link #resume}. */
  synchronized void pause() {
    flush();
    paused = true;
  }

  /** Gathers statements again, unless the transaction has ended since {@link #pause}. */
  synchronized void resume() {
    paused = false;
  }

  synchronized boolean isEmpty() {
    return gathered.isEmpty();
  }

  /** True if a statement has failed and the transaction was not rolled back since. */
  synchronized boolean hasFailed() {
    return failure != null;
  }

  /** Takes a statement to be sent later. */
  synchronized void add(String sql, byte[] parameterSet) {
    requireNoFailure();
    if (!gathered.add(sql, parameterSet)) {
      send(SeriesEnding.STOP_AT_FAILURE);
      gathered.add(sql, parameterSet);
    }
  }

  /** Sends what is gathered, and waits for its end. */
  synchronized void flush() {
    requireNoFailure();
    if (!gathered.isEmpty()) {
      send(SeriesEnding.STOP_AT_FAILURE);
    }
  }

  /** Sends what is gathered together with the commit. */
  synchronized void commit() {
    requireNoFailure();
    send(SeriesEnding.COMMIT);
  }

  /** Forgets everything: the transaction has ended, or is about to be rolled back. */
  synchronized void end() {
    on = false;
    gathered = new Series();
    failure = null;
  }

  private void send(SeriesEnding ending) {
    Series series = gathered;
    gathered = new Series();
    List<Series.Result> results;
    try {
      results = runner.run(series, ending);
    } catch (RuntimeException | Error e) {
      failure = DbException.toSQLException(e);
      throw e;
    }
    SQLException last = results.get(results.size() - 1).failure();
    if (last != null) {
      // if the commit fails, the transaction has ended
      failure = results.size() > series.size() ? null : last;
      throw DbException.convert(last);
    }
  }

  private void requireNoFailure() {
    SQLException before = failure;
    if (before != null) {
      throw DbException.convert(
          JdbcErrors.exception(
              new Reply.Failure(
                  SqlState.FAILED_TRANSACTION,
                  "A statement of the pipelined transaction has failed, and those after it did not"
                      + " run: roll the transaction back. The statement failed with: "
                      + before.getMessage()),
              null,
              before));
    }
  }
}
