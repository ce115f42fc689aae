package dev.tollgate.node.client;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.log.SnapshotUnavailableException;
import dev.tollgate.sql.SqlRefused;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.schema.LockAnswers;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireWriter;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Translates outcomes and errors to the wire. */
final class Replies {
  private Replies() {}

  /** The reply to a statement. */
  static Reply of(Outcome outcome) {
    if (outcome instanceof Outcome.Executed executed) {
      return new Reply.Result(executed.result().bytes());
    }
    if (outcome instanceof Outcome.Batch batch) {
      List<Reply> results = new ArrayList<>(batch.outcomes().size());
      batch.outcomes().forEach(one -> results.add(of(one)));
      return new Reply.BatchResult(results);
    }
    if (outcome instanceof Outcome.Refused refused) {
      return of(refused);
    }
    if (outcome instanceof Outcome.SqlFailed failed) {
      return new Reply.Failure(failed.sqlState(), failed.vendorCode(), failed.message());
    }
    if (outcome instanceof Outcome.Done || outcome instanceof Outcome.Answered) {
      return updated(0);
    }
    throw new IllegalStateException("no answer to a statement: " + outcome);
  }

  /** The reply to a statement whose cancellation came before it entered the log. */
  static Reply.Failure canceled() {
    return new Reply.Failure(
        SqlState.CANCELLED, "the statement was canceled before it began: it changed nothing");
  }

  static Reply.Failure of(Outcome.Refused refused) {
    return new Reply.Failure(SqlErrors.stateOf(refused.code()), refused.message());
  }

  /** The reply to a lock function that stands alone. */
  static Reply of(Outcome outcome, LockAnswers.Kind kind, String label) {
    try {
      return new Reply.Result(LockAnswers.resultOf(outcome, kind, label));
    } catch (SQLException e) {
      return of(e);
    }
  }

  static Reply.Failure of(SQLException error) {
    Outcome.SqlFailed failed = SqlErrors.failed(error);
    return new Reply.Failure(failed.sqlState(), failed.vendorCode(), failed.message());
  }

  /** The reply to a request whose parameters are malformed, though its message is not. */
  static Reply.Failure of(WireFormatException malformed) {
    return new Reply.Failure(
        SqlState.CONNECTION_REFUSED, "a parameter is no SQL value: " + malformed.getMessage());
  }

  static Reply.Failure of(SqlRefused refused) {
    SqlState state =
        switch (refused.reason()) {
          case SYNTAX, NOT_ALLOWED -> SqlState.REFUSED_STATEMENT;
          case NOT_SUPPORTED -> SqlState.NOT_SUPPORTED;
          case TOO_LONG -> SqlState.TOO_LARGE;
        };
    String message = refused.getMessage();
    return new Reply.Failure(state, message == null ? "refused" : message);
  }

  static Reply.Failure notSupported(String sentence) {
    return new Reply.Failure(SqlState.NOT_SUPPORTED, sentence);
  }

  static Reply.Failure of(SnapshotUnavailableException failure) {
    SqlState state =
        switch (failure.reason()) {
          case NOT_HERE -> SqlState.NOT_SUPPORTED;
          case NO_GAP -> SqlState.CONFLICT;
          case DISK -> SqlState.DISK;
        };
    return new Reply.Failure(state, String.valueOf(failure.getMessage()));
  }

  /** The time zone that a statement has given to its session. */
  static Reply.Result timeZone(TimeZoneName zone) {
    WireWriter out = new WireWriter(32);
    StatementResult.writeTimeZone(out, zone.value());
    return new Reply.Result(out.toByteArray());
  }

  /** A count of changed rows. */
  static Reply.Result updated(long count) {
    WireWriter out = new WireWriter(16);
    StatementResult.writeCount(out, count);
    return new Reply.Result(out.toByteArray());
  }
}
