package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.TransactionMode;
import java.time.Duration;
import java.util.List;

/**
 * Statements that are carried out once, one after the other, by one request.
 *
 * @param statements 1 to {@link Protocol#MAX_SERIES_STATEMENTS}
 * @param timeout longest time to run, zero for no limit
 */
public record StatementSeries(
    TransactionMode mode,
    SeriesEnding ending,
    List<Request.SeriesStatement> statements,
    Duration timeout) {
  public StatementSeries {
    requireNonNull(mode, "mode");
    requireNonNull(ending, "ending");
    statements = List.copyOf(statements);
    requireNonNull(timeout, "timeout");
  }

  Request.ExecuteSeries request(long sequence, boolean ownLeaseTrusted) {
    return new Request.ExecuteSeries(sequence, ownLeaseTrusted, mode, ending, statements);
  }
}
