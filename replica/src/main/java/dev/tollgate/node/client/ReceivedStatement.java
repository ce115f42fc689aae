package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import java.sql.SQLException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A statement that a client has sent, with what the classes that carry it out need. It ends in
 * exactly one reply.
 *
 * @param runner of the connection that the statement came by
 * @param answer takes the reply; callable from any thread
 */
record ReceivedStatement(
    ClientService service,
    QueryRunner runner,
    ClientConnection.Attached session,
    ClientInfo client,
    Request.Execute request,
    Consumer<Reply> answer) {
  ReceivedStatement {
    requireNonNull(service, "service");
    requireNonNull(runner, "runner");
    requireNonNull(session, "session");
    requireNonNull(client, "client");
    requireNonNull(request, "request");
    requireNonNull(answer, "answer");
  }

  /** Work on input that a client may have got wrong. */
  interface Attempt {
    void run() throws SQLException;
  }

  void reply(Reply reply) {
    answer.accept(reply);
  }

  void result(byte[] body) {
    answer.accept(new Reply.Result(body));
  }

  void attempt(Attempt attempt) {
    try {
      attempt.run();
    } catch (SQLException e) {
      service.replica().stopIfClassesAreLost(e);
      answer.accept(Replies.of(e));
    } catch (WireFormatException e) {
      answer.accept(Replies.of(e));
    }
  }

  Reply.NotLeader notLeader() {
    return new Reply.NotLeader(service.clusterView());
  }

  TransactionScope scope() {
    return Operations.mode(request);
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

  /** Returns what this node knows of the session; null if the session has ended. */
  Facts.@Nullable SessionFacts facts() {
    return service.replica().facts().session(session.id());
  }

  /** Returns the session if it has a transaction whose rows a query has to see, else null. */
  @Nullable SessionId transaction() {
    Facts.SessionFacts found = facts();
    return found == null || !found.inTransaction() ? null : session.id();
  }
}
