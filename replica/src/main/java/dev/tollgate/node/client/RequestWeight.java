package dev.tollgate.node.client;

import dev.tollgate.value.ValueCount;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import org.jspecify.annotations.Nullable;

/**
 * What a request takes of a node's memory once its parameters are decoded. Known before anything is
 * decoded. The text of a statement is no part of it: {@link StatementRequests} plans long texts one
 * after the other.
 *
 * @param values of all parameter sets, with those within arrays and rows; at least as many as are
 *     allowed if there are more
 * @param bytes of the frame and of the values
 */
record RequestWeight(int values, long bytes) {
  /** What a value takes beside the bytes that it has in the frame: an array or a row takes most. */
  private static final int VALUE_BYTES = 128;

  static RequestWeight of(int frameBytes, Request request) {
    // a small frame has fewer values than are allowed, and its decoded values are few
    int values = frameBytes < ClientLimits.SMALL_REQUEST_BYTES ? 0 : values(request);
    return new RequestWeight(values, frameBytes + (long) VALUE_BYTES * values);
  }

  private static int values(Request request) {
    int values = 0;
    if (request instanceof Request.Execute execute) {
      for (byte[] set : execute.parameterSets()) {
        values += values(set, values);
      }
    } else if (request instanceof Request.ExecuteSeries series) {
      for (Request.SeriesStatement statement : series.statements()) {
        values += values(statement.parameterSet(), values);
      }
    } else if (request instanceof Request.Metadata metadata) {
      values = values(metadata.arguments(), 0);
    }
    return values;
  }

  private static int values(byte[] set, int before) {
    return before > Protocol.MAX_VALUES ? 0 : ValueCount.of(set, Protocol.MAX_VALUES - before);
  }

  /** Why the node cannot serve the request at all, or null. */
  Reply.@Nullable Failure refusal() {
    return values <= Protocol.MAX_VALUES
        ? null
        : new Reply.Failure(
            SqlState.TOO_LARGE,
            "the parameters of the request have more than "
                + Protocol.MAX_VALUES
                + " values, each element of an array or a row among them: nothing was done; send"
                + " them in several requests");
  }
}
