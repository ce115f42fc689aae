package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How much a connection may ask for in a second: statements, if their number is limited, and
 * renewals and locks to watch, which an event loop carries out. A series takes one for each of its
 * statements, a batch one for each set. One thread at a time.
 */
final class RequestRate {
  /** Sessions and leases that the heartbeats of a connection may renew: two of the largest. */
  static final int RENEWALS_PER_SECOND = 400_000;

  /** Locks that a connection may ask to watch: those that one user may hold. */
  static final int WATCHED_LOCKS_PER_SECOND = Limits.HELD_LOCKS_PER_USER;

  private static final double NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LongSupplier nanoTime;
  private final @Nullable Bucket statements;
  private final Bucket renewals;
  private final Bucket watches;

  /**
   * @param statementsPerSecond 0 for any number
   */
  RequestRate(int statementsPerSecond, LongSupplier nanoTime) {
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
    statements = statementsPerSecond == 0 ? null : new Bucket(statementsPerSecond);
    renewals = new Bucket(RENEWALS_PER_SECOND);
    watches = new Bucket(WATCHED_LOCKS_PER_SECOND);
  }

  /** Counts what a request asks for, or returns why the request is refused. */
  Reply.@Nullable Failure admit(Request request) {
    if (request instanceof Request.Heartbeat heartbeat) {
      int count = heartbeat.sessions().size() + heartbeat.leases().size();
      return renewals.takes(count)
          ? null
          : refused("renews more than " + RENEWALS_PER_SECOND + " sessions and leases", "");
    }
    if (request instanceof Request.WatchLocks watch) {
      return watches.takes(watch.tokens().size())
          ? null
          : refused("watches more than " + WATCHED_LOCKS_PER_SECOND + " locks", "");
    }
    Bucket limited = statements;
    return limited == null || limited.takes(statementsOf(request))
        ? null
        : refused(
            "sends more than " + limited.perSecond + " statements",
            ", or raise --max-statements-per-second");
  }

  private static Reply.Failure refused(String what, String instead) {
    return new Reply.Failure(
        SqlState.BUSY,
        "the connection "
            + what
            + " in a second, as many as it may: nothing was done; try again later"
            + instead);
  }

  private static int statementsOf(Request request) {
    if (request instanceof Request.ExecuteSeries series) {
      return series.statements().size();
    }
    if (request instanceof Request.Execute execute) {
      return Math.max(1, execute.parameterSets().size());
    }
    return request instanceof Request.Prepare ? 1 : 0;
  }

  /** Fills within a second; what is too much for a full bucket empties it. */
  private final class Bucket {
    final int perSecond;
    double left;
    long filledNanos = nanoTime.getAsLong();

    Bucket(int perSecond) {
      this.perSecond = perSecond;
      this.left = perSecond;
    }

    boolean takes(int count) {
      if (count == 0) {
        return true;
      }
      long now = nanoTime.getAsLong();
      left = Math.min(perSecond, left + (now - filledNanos) / NANOS * perSecond);
      filledNanos = now;
      int taken = Math.min(count, perSecond);
      if (left < taken) {
        return false;
      }
      left -= taken;
      return true;
    }
  }
}
