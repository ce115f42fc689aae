package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.wire.Reply;
import java.util.function.Consumer;

/**
 * A request whose operation takes effect once under its number. It ends in exactly one reply.
 *
 * @param content see {@link RequestContent}
 * @param answer takes the reply; callable from any thread
 */
record NumberedRequest(RequestId id, long content, TransactionScope scope, Consumer<Reply> answer) {
  NumberedRequest {
    requireNonNull(id, "id");
    requireNonNull(scope, "scope");
    requireNonNull(answer, "answer");
  }
}
