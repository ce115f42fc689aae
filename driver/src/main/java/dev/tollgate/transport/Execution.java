package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A statement, its number in its session, and its reply. Guarded by the session's lock. */
public final class Execution {
  private final long sequence;
  private final ClusterSession.Statement statement;
  private final long startNanos;
  private final SessionLink.Losses losses = new SessionLink.Losses();
  private @Nullable Reply reply;
  private int connectionNumber;
  private boolean hasRows;

  Execution(long sequence, ClusterSession.Statement statement, long startNanos) {
    this.sequence = sequence;
    this.statement = statement;
    this.startNanos = startNanos;
  }

  /** The latest reply to the statement. */
  public Reply reply() {
    return requireNonNull(reply, "reply");
  }

  /** The connections that were lost under this statement, or that had rows of its result. */
  SessionLink.Losses losses() {
    return losses;
  }

  void answered(Reply answer, int onConnection) {
    reply = answer;
    connectionNumber = onConnection;
  }

  /** Records that rows of the result are left; returns false if that was known. */
  boolean opensRows() {
    boolean first = !hasRows;
    hasRows = true;
    return first;
  }

  /** Records that no rows are left; returns false if that was known. */
  boolean endsRows() {
    boolean last = hasRows;
    hasRows = false;
    return last;
  }

  String sql() {
    return statement.sql();
  }

  long sequence() {
    return sequence;
  }

  /** The number of the connection that has the rest of the rows. */
  int connectionNumber() {
    return connectionNumber;
  }

  Request.Execute request(boolean ownLeaseTrusted) {
    return new Request.Execute(
        sequence,
        ownLeaseTrusted,
        statement.mode(),
        statement.batch(),
        statement.sql(),
        statement.keys(),
        statement.maxRows(),
        statement.pageRows(),
        statement.parameterSets());
  }

  /** What is left of the statement's time, or zero if it has no limit. */
  Duration untilDeadline(long nowNanos) {
    return left(statement.timeout(), nowNanos - startNanos);
  }

  /** What is left of a time limit, or zero if there is none. */
  static Duration left(Duration timeout, long passedNanos) {
    if (timeout.isZero()) {
      return Duration.ZERO;
    }
    Duration left = timeout.minusNanos(passedNanos);
    return left.isNegative() || left.isZero() ? Duration.ofNanos(1) : left;
  }
}
