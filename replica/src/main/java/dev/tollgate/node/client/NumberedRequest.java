package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.TransactionScope;

/**
 * A request whose operation takes effect once under its number. It ends in exactly one reply.
 *
 * @param content see {@link RequestContent}
 * @param cancellation tells whether the client has canceled it
 * @param answer takes the reply; callable from any thread
 */
record NumberedRequest(
    RequestId id,
    long content,
    TransactionScope scope,
    Cancellations.Statement cancellation,
    TimedAnswer answer) {
  NumberedRequest {
    requireNonNull(id, "id");
    requireNonNull(scope, "scope");
    requireNonNull(cancellation, "cancellation");
    requireNonNull(answer, "answer");
  }
}
