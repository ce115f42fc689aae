package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.util.function.Consumer;

/**
 * When a statement may read this node's state: after which proof, and in which transaction.
 * Thread-safe; nothing here waits.
 */
final class ReadAccess {
  private final Leadership leadership;
  private final Facts facts;
  private final TimeKeeper timeKeeper;
  private final StatementProposals proposals;

  ReadAccess(
      Leadership leadership, Facts facts, TimeKeeper timeKeeper, StatementProposals proposals) {
    this.leadership = requireNonNull(leadership, "leadership");
    this.facts = requireNonNull(facts, "facts");
    this.timeKeeper = requireNonNull(timeKeeper, "timeKeeper");
    this.proposals = requireNonNull(proposals, "proposals");
  }

  /** Whether this node leads, as far as it knows. */
  boolean isLeader() {
    return leadership.isAssumed();
  }

  /** Runs the work if this node's state is new enough; else sends the client to the leader. */
  void withState(ReadConsistency consistency, Consumer<Reply> answer, Runnable work) {
    switch (consistency) {
      case ANY -> runIf(!leadership.isApart(), answer, work);
      case LEADER -> runIf(leadership.isAssumed(), answer, work);
      case LINEARIZABLE -> leadership.awaitState(leads -> runIf(leads, answer, work));
    }
  }

  private void runIf(boolean allowed, Consumer<Reply> answer, Runnable work) {
    if (allowed) {
      work.run();
    } else {
      answer.accept(leadership.notLeader());
    }
  }

  /** Runs the work once the session's queries may see this node's state. */
  void withState(ReceivedStatement statement, Runnable work) {
    ReadConsistency consistency = statement.session().options().readConsistency();
    boolean inTransaction = statement.scope() != TransactionScope.AUTOCOMMIT;
    withState(
        consistency == ReadConsistency.ANY && inTransaction ? ReadConsistency.LEADER : consistency,
        statement.answer(),
        work);
  }

  /**
   * Ensures that a serializable transaction is alone before it reads, and that the client learns of
   * the end of its transaction, or of its session, before it goes on.
   */
  void inTransaction(ReceivedStatement statement, Runnable work) {
    TransactionScope mode = statement.scope();
    Facts.SessionFacts state = facts.session(statement.session().id());
    if (state == null) {
      // this node knew the session when it was attached, so the session has ended since
      statement.reply(
          new Reply.Failure(
              SqlState.SESSION_GONE,
              "session "
                  + statement.session().id()
                  + " has expired or was ended: open a new connection"));
      return;
    }
    if (mode == TransactionScope.AUTOCOMMIT) {
      work.run();
      return;
    }
    boolean begun = state.inTransaction();
    String lost = state.lostTransaction();
    if (lost != null) {
      statement.reply(new Reply.Failure(SqlState.CONFLICT, lost));
    } else if (mode == TransactionScope.SERIALIZABLE && !begun) {
      begin(statement, work);
    } else {
      if (begun) {
        timeKeeper.noteUse(statement.session().id());
      }
      work.run();
    }
  }

  /** Begins the transaction of a query, and then runs the work. */
  void begin(ReceivedStatement statement, Runnable work) {
    proposals.propose(
        statement,
        new Operation.BeginTransaction(statement.scope()),
        outcome -> {
          if (outcome instanceof Outcome.Done) {
            work.run();
            return null;
          }
          return Replies.of(outcome);
        });
  }
}
