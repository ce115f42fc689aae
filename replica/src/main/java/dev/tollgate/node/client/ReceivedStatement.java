package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;

/**
 * A statement that a client has sent. It ends in exactly one reply.
 *
 * @param losses connections that were lost while the reply was due on them
 * @param results of the connection that the statement came by
 * @param cancellation tells whether the client has canceled it
 * @param answer takes the reply; callable from any thread
 */
record ReceivedStatement(
    AttachedSession session,
    ClientInfo client,
    Request.Execute request,
    int losses,
    OpenResults results,
    Cancellations.Statement cancellation,
    TimedAnswer answer) {
  ReceivedStatement {
    requireNonNull(session, "session");
    requireNonNull(client, "client");
    requireNonNull(request, "request");
    requireNonNull(results, "results");
    requireNonNull(cancellation, "cancellation");
    requireNonNull(answer, "answer");
  }

  /** What the log has to know of the request. */
  NumberedRequest number() {
    return new NumberedRequest(
        new RequestId(session.id(), request.sequence()),
        RequestContent.of(request),
        scope(),
        cancellation,
        answer);
  }

  void reply(Reply reply) {
    answer.accept(reply);
  }

  void result(byte[] body) {
    answer.accept(new Reply.Result(body));
  }

  TransactionScope scope() {
    return Operations.scope(request.mode());
  }

  /**
   * Returns the parameters of a statement that is no batch.
   *
   * @throws SQLException with 0A000 if the client sent it as a batch
   */
  byte[] onlySet() throws SQLException {
    if (request.batch()) {
      throw SqlErrors.exception(
          SqlState.NOT_SUPPORTED, "a batch runs statements that change rows, and no others");
    }
    return request.parameterSets().get(0);
  }
}
