package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sends the operations of statements through the log, and answers when they have their outcomes.
 * Thread-safe; nothing here waits.
 */
final class StatementProposals {
  private final CommandPipeline pipeline;
  private final TransactionGate gate;
  private final WaitingRequests waiting;
  private final Facts facts;
  private final Leadership leadership;
  private final Workers workers;
  private final RequestWork work;

  StatementProposals(
      CommandPipeline pipeline,
      TransactionGate gate,
      WaitingRequests waiting,
      Facts facts,
      Leadership leadership,
      Workers workers,
      RequestWork work) {
    this.pipeline = requireNonNull(pipeline, "pipeline");
    this.gate = requireNonNull(gate, "gate");
    this.waiting = requireNonNull(waiting, "waiting");
    this.facts = requireNonNull(facts, "facts");
    this.leadership = requireNonNull(leadership, "leadership");
    this.workers = requireNonNull(workers, "workers");
    this.work = requireNonNull(work, "work");
  }

  /** Proposes the operation of a statement; its outcome is the reply. */
  void propose(ReceivedStatement statement, Operation operation) {
    propose(statement, operation, Replies::of);
  }

  /**
   * Proposes the operation of a statement.
   *
   * @param reply makes the reply from the outcome; returns null if the reply comes later
   */
  void propose(
      ReceivedStatement statement, Operation operation, Function<Outcome, @Nullable Reply> reply) {
    propose(statement.number(), operation, reply);
  }

  /**
   * Proposes the operation of a request.
   *
   * @param reply as above
   */
  void propose(
      NumberedRequest request, Operation operation, Function<Outcome, @Nullable Reply> reply) {
    if (mayBegin(request, operation) && !facts.isInTransaction(request.id().session())) {
      Runnable beginning = () -> submit(request, operation, reply);
      request
          .cancellation()
          .enqueue(
              () -> gate.begin(beginning, why -> busy(request, why)),
              () -> gate.withdraw(beginning),
              () -> cancel(request, () -> submitAnyway(request, operation, reply)));
    } else {
      submit(request, operation, reply);
    }
  }

  /** Replies to SET TIME ZONE with the zone that the session has now. */
  Reply timeZone(NumberedRequest request) {
    Facts.SessionFacts state = facts.session(request.id().session());
    return state == null ? leadership.notLeader() : Replies.timeZone(state.timeZone());
  }

  private static boolean mayBegin(NumberedRequest request, Operation operation) {
    return request.scope() != TransactionScope.AUTOCOMMIT
        && (operation instanceof Operation.Executions
            || operation instanceof Operation.AcquireTransactionLock
            || operation instanceof Operation.BeginTransaction
            || operation instanceof Operation.MarkSavepoint);
  }

  private void submit(
      NumberedRequest request, Operation operation, Function<Outcome, @Nullable Reply> reply) {
    if (request.cancellation().isCanceled() && !(operation instanceof Operation.EndTransaction)) {
      cancel(request, () -> submitAnyway(request, operation, reply));
    } else {
      submitAnyway(request, operation, reply);
    }
  }

  /**
   * Answers that a request was canceled, unless it was applied already, as {@link #refuse} does.
   */
  void cancel(NumberedRequest request, Runnable proposal) {
    refuse(request, Replies.canceled(), proposal);
  }

  /**
   * Refuses a request, unless it was applied already and this is its repetition, which the log
   * answers.
   *
   * @param proposal of the repetition
   */
  void refuse(NumberedRequest request, Reply.Failure refusal, Runnable proposal) {
    leadership.awaitEntry(
        still ->
            workers.chore(
                () -> {
                  if (!still) {
                    request.answer().accept(leadership.notLeader());
                  } else if (facts.hasReached(request.id())) {
                    proposal.run();
                  } else {
                    request.answer().accept(refusal);
                  }
                }));
  }

  private void submitAnyway(
      NumberedRequest request, Operation operation, Function<Outcome, @Nullable Reply> reply) {
    RequestId id = request.id();
    pipeline.submit(
        new Command.Perform(id.session(), id.sequence(), operation, request.content()),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            if (outcome instanceof Outcome.Waiting) {
              awaitGrant(request, operation, reply);
            } else {
              answer(request, reply, outcome);
            }
          }

          @Override
          public void unknown() {
            request.answer().accept(leadership.notLeader());
          }

          @Override
          public void refused(String why) {
            busy(request, why);
          }

          @Override
          public void notYet(String why) {
            request.answer().accept(new Reply.Failure(SqlState.NOT_SUPPORTED, why));
          }
        });
  }

  private static void busy(NumberedRequest request, String why) {
    request.answer().accept(new Reply.Failure(SqlState.BUSY, why));
  }

  private void awaitGrant(
      NumberedRequest request, Operation operation, Function<Outcome, @Nullable Reply> reply) {
    request.answer().waits(isLockRequest(operation));
    waiting.await(
        request.id(),
        new WaitingRequests.Waiter() {
          @Override
          public void completed(Outcome outcome) {
            request.answer().waitsNoMore();
            answer(request, reply, outcome);
          }

          @Override
          public void abandoned() {
            request.answer().waitsNoMore();
            request.answer().accept(leadership.notLeader());
          }
        });
    if (request.cancellation().isCanceled()) {
      // the cancellation may have been in the log before the request was
      endWait(request.id());
    }
  }

  private void endWait(RequestId id) {
    pipeline.submit(
        new Command.EndWait(id.session(), id.sequence(), Command.WaitEnd.CANCELLED),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {}

          @Override
          public void unknown() {}
        });
  }

  /** Whether waiting is what the client asks for. */
  private static boolean isLockRequest(Operation operation) {
    return operation instanceof Operation.AcquireLock
        || operation instanceof Operation.AcquireLocks
        || operation instanceof Operation.AcquireTransactionLock;
  }

  /** Answers the client whatever happens, and lets the apply thread go on. */
  private void answer(
      NumberedRequest request, Function<Outcome, @Nullable Reply> reply, Outcome outcome) {
    Reply made;
    try {
      made = reply.apply(outcome);
    } catch (RuntimeException e) {
      made = work.unexpected(e);
    }
    if (made != null) {
      request.answer().accept(made);
    }
  }
}
