package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import java.util.function.Function;

/**
 * The requests of sessions, each carried out at most once. A session remembers the outcome of its
 * last request, and at most one of its requests waits. Waits and sessions end here, too.
 */
final class Requests {
  private final CurrentCommand current;
  private final SessionTable sessions;
  private final Locking locking;
  private final Transactions transactions;
  private final Function<Session, Operation.Handler<Outcome>> operations;

  /**
   * @param operations carries out the operations of a session
   */
  Requests(
      ReplicatedState state,
      Locking locking,
      Transactions transactions,
      Function<Session, Operation.Handler<Outcome>> operations) {
    this.current = state.current();
    this.sessions = state.sessions();
    this.locking = locking;
    this.transactions = transactions;
    this.operations = operations;
  }

  Outcome perform(Command.Perform command) {
    Session session = sessions.find(command.session());
    if (session == null) {
      return sessionGone(command.session());
    }
    if (command.sequence() < session.lastSequence()) {
      return new Outcome.Refused(
          RefusalCode.SEQUENCE_PASSED,
          "operation " + command.sequence() + " came after operation " + session.lastSequence());
    }
    Outcome known = session.lastOutcome();
    if (command.sequence() == session.lastSequence() && known != null) {
      return session.hasSent(command.content()) ? known : reused(command);
    }
    endWaitOf(session, cancelled());
    session.begin(command.sequence(), command.content());
    Outcome outcome = command.operation().handledBy(operations.apply(session));
    if (!(outcome instanceof Outcome.Waiting)) {
      session.finish(outcome);
    } else if (command.operation() instanceof Operation.AcquireLock acquire) {
      return waitFor(session, acquire.lock(), acquire.waitMillis());
    } else if (command.operation() instanceof Operation.AcquireLocks acquire) {
      return waitFor(session, acquire.locks().get(0), acquire.waitMillis());
    }
    return outcome;
  }

  private Outcome waitFor(Session session, LockName lock, long waitMillis) {
    session.waitFor(lock);
    current.tell(new Notice.WaitStarted(session.id(), session.lastSequence(), waitMillis));
    transactions.lockAwaited(session);
    // a deadlock that was broken may have set the lock free
    return requireNonNull(session.lastOutcome(), "outcome");
  }

  /** Records the outcome of a request that was refused without being carried out. */
  void refuse(Command.Perform command, Outcome.Refused refused) {
    Session session = sessions.find(command.session());
    // the request gets the same answer if it is resent under the same number
    if (session != null
        && command.sequence() > session.lastSequence()
        && !(session.lastOutcome() instanceof Outcome.Waiting)) {
      session.begin(command.sequence(), command.content());
      session.finish(refused);
    }
  }

  /**
   * Ends the wait of a request, unless the session has gone on; returns false if it does not wait.
   */
  boolean endWait(Command.EndWait command) {
    Session session = sessions.find(command.session());
    if (session == null || session.lastSequence() != command.sequence()) {
      return false;
    }
    Outcome end =
        switch (command.reason()) {
          case TIMED_OUT -> timedOut(session);
          case CANCELLED -> cancelled();
        };
    return endWaitOf(session, end);
  }

  /** Ends a session, its wait, its transaction and its own lease. */
  void endSession(Session session) {
    endWaitOf(session, new Outcome.Refused(RefusalCode.SESSION_GONE, "the session ended"));
    transactions.sessionEnds(session);
    locking.endOwnLease(session);
    sessions.remove(session);
    current.tell(new Notice.SessionEnded(session.id()));
  }

  /** Ends the wait of a session's request, if it waits. */
  void endWait(Session session, Outcome end) {
    var unused = endWaitOf(session, end);
  }

  private boolean endWaitOf(Session session, Outcome end) {
    return transactions.endWait(session, end) || locking.endWait(session, end);
  }

  static Outcome.Refused sessionGone(SessionId id) {
    return new Outcome.Refused(
        RefusalCode.SESSION_GONE, "session " + id + " has expired or was closed");
  }

  private static Outcome.Refused reused(Command.Perform command) {
    return new Outcome.Refused(
        RefusalCode.SEQUENCE_REUSED,
        "operation "
            + command.sequence()
            + " of session "
            + command.session()
            + " was another request: a client gives each request a number of its own, and changes"
            + " nothing in one that it sends again");
  }

  private static Outcome.Refused cancelled() {
    return new Outcome.Refused(RefusalCode.WAIT_CANCELLED, "the wait was cancelled");
  }

  private static Outcome timedOut(Session session) {
    PendingStatement statement = session.pending();
    return statement == null ? new Outcome.NotGranted() : statement.timedOut();
  }
}
