package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The way of a statement through the log. */
final class StatementProposal {
  private final ReceivedStatement statement;
  private final ClientService service;

  StatementProposal(ReceivedStatement statement) {
    this.statement = requireNonNull(statement, "statement");
    service = statement.service();
  }

  /**
   * Sends an operation through the log, and answers when it has its outcome.
   *
   * @param reply returns null if the reply comes later
   */
  void propose(Operation operation, Function<Outcome, @Nullable Reply> reply) {
    if (mayBegin(operation) && statement.transaction() == null) {
      service.beginTransaction(() -> submit(operation, reply), this::busy);
    } else {
      submit(operation, reply);
    }
  }

  private boolean mayBegin(Operation operation) {
    return statement.scope() != TransactionScope.AUTOCOMMIT
        && (operation instanceof Operation.ExecuteSql
            || operation instanceof Operation.BeginTransaction
            || operation instanceof Operation.MarkSavepoint);
  }

  private void submit(Operation operation, Function<Outcome, @Nullable Reply> reply) {
    RequestId id = new RequestId(statement.session().id(), statement.request().sequence());
    service
        .pipeline()
        .submit(
            new Command.Perform(
                statement.session().id(),
                statement.request().sequence(),
                operation,
                RequestContent.of(statement.request())),
            new Proposal.Listener() {
              @Override
              public void applied(Outcome outcome) {
                if (outcome instanceof Outcome.Waiting) {
                  awaitGrant(id, reply);
                } else {
                  answer(reply, outcome);
                }
              }

              @Override
              public void unknown() {
                statement.reply(statement.notLeader());
              }

              @Override
              public void refused(String why) {
                busy(why);
              }
            });
  }

  private void busy(String why) {
    statement.reply(new Reply.Failure(SqlState.BUSY, why));
  }

  private void awaitGrant(RequestId id, Function<Outcome, @Nullable Reply> reply) {
    service.await(
        id,
        new ClientService.Waiter() {
          @Override
          public void completed(Outcome outcome) {
            answer(reply, outcome);
          }

          @Override
          public void abandoned() {
            statement.reply(statement.notLeader());
          }
        });
  }

  /** Answers the client whatever happens, and lets the apply thread go on. */
  private void answer(Function<Outcome, @Nullable Reply> reply, Outcome outcome) {
    Reply made;
    try {
      made = reply.apply(outcome);
    } catch (RuntimeException e) {
      made = statement.runner().unexpected(e);
    }
    if (made != null) {
      statement.reply(made);
    }
  }
}
