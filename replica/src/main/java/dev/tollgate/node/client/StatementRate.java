package dev.tollgate.node.client;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How many statements a connection may send in a second, if that is limited: as a bucket that a
 * second fills. A series takes one for each of its statements, a batch one for each set, and both
 * at most a full bucket. One thread at a time.
 */
final class StatementRate {
  private static final double NANOS = TimeUnit.SECONDS.toNanos(1);

  private final int perSecond;
  private final LongSupplier nanoTime;
  private double left;
  private long filledNanos;

  /**
   * @param perSecond 0 for any number
   */
  StatementRate(int perSecond, LongSupplier nanoTime) {
    this.perSecond = perSecond;
    this.nanoTime = nanoTime;
    this.left = perSecond;
    this.filledNanos = perSecond == 0 ? 0 : nanoTime.getAsLong();
  }

  /** Counts the statements of a request, or returns why the request is refused. */
  Reply.@Nullable Failure admit(Request request) {
    int statements = perSecond == 0 ? 0 : statementsOf(request);
    if (statements == 0) {
      return null;
    }
    long now = nanoTime.getAsLong();
    left = Math.min(perSecond, left + (now - filledNanos) / NANOS * perSecond);
    filledNanos = now;
    int taken = Math.min(statements, perSecond);
    if (left >= taken) {
      left -= taken;
      return null;
    }
    return new Reply.Failure(
        SqlState.BUSY,
        "the connection sends more than "
            + perSecond
            + " statements a second, as many as may be: nothing was done; try again later, or raise"
            + " --max-statements-per-second");
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
}
