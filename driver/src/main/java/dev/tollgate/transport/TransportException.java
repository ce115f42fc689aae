package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import org.jspecify.annotations.Nullable;

/**
 * A session, a request or a download that failed. For example, no reply arrived, a node rejected
 * the session, the request is too large, or the rest of the rows is lost.
 */
public class TransportException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Reply.Failure failure;

  TransportException(Reply.Failure failure, @Nullable Throwable cause) {
    super(failure.message(), cause);
    this.failure = requireNonNull(failure, "failure");
  }

  TransportException(SqlState state, String message, @Nullable Throwable cause) {
    this(new Reply.Failure(state, message), cause);
  }

  /** State, code and message for the SQLException. */
  public Reply.Failure failure() {
    return failure;
  }
}
