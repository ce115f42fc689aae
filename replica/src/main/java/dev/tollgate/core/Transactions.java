package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.RowKey;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Begins and ends transactions, and tries their statements. A statement that has to wait stands in
 * the {@link StatementQueue}. The queue is part of the replicated state, so its order survives a
 * failover. A waiting statement is tried again in the very entry that ends what it waited for.
 *
 * <ul>
 *   <li>A statement that needs a row of an open transaction waits for that transaction to end. If
 *       that closes a cycle of transactions that wait for each other, the youngest of them is
 *       rolled back at once.
 *   <li>A definition commits its session's own transaction, and waits for other transactions that
 *       hold what it changes. While it waits, no new transaction begins.
 *   <li>A serializable transaction begins when no other transaction is open. Until it ends, no
 *       other session writes.
 * </ul>
 */
final class Transactions {
  private final SqlStore store;
  private final SessionTable sessions;
  private final TransactionTable open;
  private final StatementQueue waiting;
  private final SqlWrite.Factory writes;
  private final StatementExecutor executor;
  private final StatementLocks locks;
  private final Deadlocks deadlocks;
  private final CurrentCommand current;
  private final Agreement agreement;
  private final EventRecorder audit;
  private final UserTable users;

  Transactions(ReplicatedState state, SqlStore store, Rights rights, SqlWrite.Factory writes) {
    this.store = store;
    this.sessions = state.sessions();
    this.open = state.transactions();
    this.waiting = state.waiting();
    this.writes = writes;
    this.locks = new StatementLocks(state, rights);
    this.deadlocks = new Deadlocks(state);
    this.executor = new StatementExecutor(store, sessions, locks, rights, writes, state.audit());
    this.current = state.current();
    this.agreement = state.agreement();
    this.audit = state.audit();
    this.users = state.users();
  }

  /**
   * Carries out an operation on the database, or lets it wait.
   *
   * @param waitMillis how long the statement waits unless it sets the time itself
   * @return its outcome, or {@link Outcome.Waiting}
   */
  Outcome run(PendingStatement statement, long waitMillis) {
    Session session = statement.session();
    String lost = session.lostTransaction();
    if (lost != null && statement.mode() != TransactionScope.AUTOCOMMIT) {
      session.forgetLostTransaction();
      return lost(lost);
    }
    Long ownWait = attempt(statement);
    if (statement.outcome() == null
        && statement.operation() instanceof Operation.AcquireTransactionLock
        && waitMillis == 0) {
      statement.finish(statement.timedOut());
    }
    if (statement.outcome() == null) {
      Outcome.Refused full = waiting.full(statement);
      if (full == null) {
        waiting.add(statement);
        breakDeadlock(statement);
      } else {
        leaveLocks(statement);
        statement.finish(statement.endedBy(full));
      }
    }
    settle();
    Outcome outcome = statement.outcome();
    if (outcome == null) {
      session.waitFor(statement);
      long wait = ownWait == null ? waitMillis : ownWait;
      current.tell(new Notice.WaitStarted(session.id(), statement.request().sequence(), wait));
      return new Outcome.Waiting();
    }
    return outcome;
  }

  /** Ends the session's transaction. */
  Outcome end(Session session, boolean commit) {
    Transaction transaction = session.transaction();
    String lost = session.lostTransaction();
    session.forgetLostTransaction();
    if (transaction == null) {
      return commit && lost != null ? lost(lost) : new Outcome.Done();
    }
    Outcome.Refused refused = commit ? commit(session, transaction) : null;
    if (!commit) {
      rollback(session, transaction);
    }
    settle();
    return refused == null ? new Outcome.Done() : refused;
  }

  /** Rolls a transaction back against the will of its client. */
  boolean abort(SessionId id, long transactionId, Command.AbortReason reason) {
    Transaction transaction = open.find(transactionId);
    if (transaction == null || !transaction.session().equals(id)) {
      return false;
    }
    Session session = sessions.existing(id);
    boolean atWork = session.pending() != null || session.awaited() != null;
    if (reason == Command.AbortReason.IDLE && atWork) {
      return false;
    }
    abort(session, transaction, whyAborted(reason));
    settle();
    return true;
  }

  /** Returns why this user may not keep all other writers out, or null if the user may. */
  private Outcome.@Nullable Refused mayNotBeAlone(UserName user) {
    if (!users.isAdministrator(user) && !store.mayWrite(user)) {
      return new Outcome.Refused(
          RefusalCode.RIGHT_MISSING,
          "user "
              + user
              + " may write to no table, and a SERIALIZABLE transaction keeps all other writers"
              + " out: use READ COMMITTED");
    }
    if (users.workLimit(user) >= Limits.ORDINARY_WORK) {
      return null;
    }
    return new Outcome.Refused(
        RefusalCode.LIMIT_REACHED,
        "user "
            + user
            + " has a WORK LIMIT below "
            + Limits.ORDINARY_WORK
            + ", and a SERIALIZABLE transaction keeps all other writers out: use READ COMMITTED and"
            + " SELECT ... FOR UPDATE, or have an administrator ALTER USER "
            + user
            + " WORK LIMIT "
            + Limits.ORDINARY_WORK);
  }

  private String whyAborted(Command.AbortReason reason) {
    TransactionLimits limits = open.limits();
    return switch (reason) {
      case AGE ->
          "the transaction was rolled back because it was open for "
              + limits.ageMillis() / 1_000
              + " s: do the work in shorter transactions, hold a lock with a lease, or have the"
              + " limit raised with CALL set_transaction_limits(age, idle)";
      case IDLE ->
          "the transaction was rolled back because nothing came for "
              + limits.idleMillis() / 1_000
              + " s: commit before you wait for something else, or have the limit raised with"
              + " CALL set_transaction_limits(age, idle)";
      case SNAPSHOT ->
          "the transaction was rolled back because a snapshot needs a moment without"
              + " transactions and waited for one for "
              + Limits.SNAPSHOT_PATIENCE_MILLIS / 1_000
              + " s: run it again, and keep transactions short";
      case CLIENT_GONE ->
          "the transaction was rolled back because all connections of its process ended without a"
              + " goodbye, and the process did not come back within "
              + Limits.RETURN_PATIENCE_MILLIS / 1_000
              + " s, or another node began to lead, and the process did not connect to that within "
              + Limits.SHOW_PATIENCE_MILLIS / 1_000
              + " s: run it again";
    };
  }

  /** Rolls back the open transaction of a session that ends. */
  void sessionEnds(Session session) {
    Transaction transaction = session.transaction();
    if (transaction != null) {
      rollback(session, transaction);
      settle();
    }
  }

  /** Removes the session's statement from the queue; returns false if none waits. */
  boolean endWait(Session session, Outcome end) {
    PendingStatement statement = session.pending();
    if (statement == null) {
      return false;
    }
    finishWaiting(statement, statement.endedBy(end));
    settle();
    return true;
  }

  /** Tries the statements that have been granted a lock while the command was carried out. */
  void settleGranted() {
    while (waiting.takeTurnCame()) {
      settle();
    }
  }

  /** Looks for a deadlock when a session with an open transaction begins to wait for a lock. */
  void lockAwaited(Session session) {
    Transaction own = session.transaction();
    if (own != null && breakDeadlock(own)) {
      settle();
    }
  }

  private void leaveLocks(PendingStatement statement) {
    locks.leaveQueue(statement);
    locks.giveBack(statement);
  }

  private void finishWaiting(PendingStatement statement, Outcome outcome) {
    waiting.remove(statement);
    leaveLocks(statement);
    statement.finish(outcome);
    Session session = statement.session();
    if (session.pending() == statement) {
      session.finish(outcome);
      RequestId request = statement.request();
      current.tell(new Notice.Completed(request.session(), request.sequence(), outcome));
      noteUse(session);
    }
  }

  /**
   * Tries a statement; afterwards the statement has an outcome or a blocker.
   *
   * @return how long the statement itself says that it waits, or null
   */
  private @Nullable Long attempt(PendingStatement statement) {
    Long ownWait = attemptOnce(statement);
    if (statement.awaitedLock() == null) {
      locks.giveBack(statement);
    }
    return ownWait;
  }

  private @Nullable Long attemptOnce(PendingStatement statement) {
    if (agreement.computing().changes()) {
      statement.finish(statement.endedBy(environmentChanges()));
      return null;
    }
    Session session = statement.session();
    if (users.isClosed(session.user())) {
      // the session ends with this very command; the database may no longer know its user
      statement.finish(statement.endedBy(Requests.sessionGone(session.id())));
      return null;
    }
    Outcome.Refused unable = statement.needsToBeAlone() ? mayNotBeAlone(session.user()) : null;
    if (unable != null) {
      statement.finish(statement.endedBy(unable));
      return null;
    }
    Transaction own = session.transaction();
    if (statement.isDefinition() && own != null) {
      Outcome.Refused refused = commit(session, own);
      if (refused != null) {
        statement.finish(refused);
        return null;
      }
    }
    PendingStatement.Blocker blocker = waiting.blockerOf(statement);
    if (blocker != null) {
      statement.waitFor(blocker);
      return null;
    }
    if (statement.begins()) {
      Outcome.Refused full = open.full(session.user());
      if (full != null) {
        statement.finish(full);
        return null;
      }
      begin(session, statement.mode());
    }
    if (statement.operation() instanceof Operation.DefineMarked marked) {
      defineMarked(statement, marked);
      return null;
    }
    noteUse(session);
    Long ownWait = executor.goOn(statement);
    if (statement.outcome() != null && statement.isToCommit()) {
      commitSeries(statement);
    }
    return ownWait;
  }

  /**
   * Tries a definition with its marks. The marks are a transaction of their own, which lasts as
   * long as this attempt: a definition that is refused or has to wait takes them back, and the one
   * that was carried out commits them. That commit cannot be refused, because this very command has
   * admitted the marks.
   */
  private void defineMarked(PendingStatement statement, Operation.DefineMarked marked) {
    Session session = statement.session();
    Outcome.Refused full = open.full(session.user());
    if (full != null) {
      statement.finish(full);
      return;
    }
    begin(session, TransactionScope.READ_COMMITTED);
    Transaction marks = requireNonNull(session.transaction(), "transaction");
    if (executor.defineMarked(statement, marked, marks)) {
      writes.of(session, marks, true).commits(marks);
      store.commit(session.id());
      ended(session, marks);
    } else {
      rollback(session, marks);
    }
  }

  private void commitSeries(PendingStatement statement) {
    Session session = statement.session();
    Transaction transaction = requireNonNull(session.transaction(), "transaction");
    Outcome.Refused refused = commit(session, transaction);
    List<Outcome> outcomes = new ArrayList<>(statement.done());
    outcomes.add(refused == null ? new Outcome.Done() : refused);
    statement.finish(new Outcome.Batch(outcomes));
  }

  private void begin(Session session, TransactionScope mode) {
    store.begin(session.id());
    session.setTransaction(open.begin(session, mode, current.nowMicros()));
  }

  /**
   * Tries the statements that waited for what has ended, in order of arrival. A statement whose row
   * another transaction now holds waits for that transaction and is not tried. Otherwise n
   * statements that wait for one row would run n times each.
   */
  private void settle() {
    Map<RowKey, Transaction> holders = new LinkedHashMap<>();
    boolean again = !waiting.isEmpty();
    while (again) {
      again = false;
      for (PendingStatement statement : waiting.copy()) {
        if (statement.outcome() == null && waiting.isClear(statement)) {
          if (!waitForNewHolder(statement, holders)) {
            attempt(statement);
            again = true;
          }
          Outcome outcome = statement.outcome();
          if (outcome == null) {
            again |= breakDeadlock(statement);
          } else {
            finishWaiting(statement, outcome);
          }
        }
      }
    }
  }

  /**
   * Lets a statement wait for the transaction that now holds its row.
   *
   * @param holders the holders found before: they hold their rows until they end
   * @return false if no other transaction holds the row, or the row is not known
   */
  private boolean waitForNewHolder(PendingStatement statement, Map<RowKey, Transaction> holders) {
    RowKey row =
        statement.blocker() instanceof PendingStatement.Blocker.Holder last ? last.row() : null;
    if (row == null) {
      return false;
    }
    Transaction holder = holders.get(row);
    if (holder == null || open.find(holder.id()) == null) {
      SessionId session = store.holderOf(row);
      holder = session == null ? null : sessions.existing(session).transaction();
    }
    if (holder == null || holder == statement.session().transaction()) {
      return false;
    }
    holders.put(row, holder);
    statement.waitFor(new PendingStatement.Blocker.Holder(holder.id(), row));
    return true;
  }

  /**
   * Rolls back the youngest of the transactions that wait for each other.
   *
   * @return false if no transactions wait for each other
   */
  private boolean breakDeadlock(PendingStatement statement) {
    Transaction own = statement.session().transaction();
    return own != null && breakDeadlock(own);
  }

  private boolean breakDeadlock(Transaction own) {
    Transaction youngest = deadlocks.youngestInDeadlock(own);
    if (youngest == null) {
      return false;
    }
    abort(
        sessions.existing(youngest.session()),
        youngest,
        "the transaction was rolled back because it and others waited for each other's rows"
            + " or locks (deadlock): run it again");
    return true;
  }

  private Outcome.@Nullable Refused commit(Session session, Transaction transaction) {
    Outcome.Refused refused = writes.of(session, transaction, true).admitCommit(transaction);
    if (refused == null) {
      store.commit(session.id());
    } else {
      store.rollback(session.id());
    }
    ended(session, transaction);
    return refused;
  }

  private void rollback(Session session, Transaction transaction) {
    store.rollback(session.id());
    ended(session, transaction);
  }

  private void abort(Session session, Transaction transaction, String why) {
    audit.losing(transaction.lease(), AuditEvent.LossReason.TRANSACTION_ABORTED, null);
    PendingStatement statement = waiting.of(session.id());
    if (statement != null) {
      leaveLocks(statement);
    } else if (!locks.endWait(session, lost(why))) {
      // before the transaction ends: other threads read both without a lock
      session.loseTransaction(why);
    }
    rollback(session, transaction);
    if (statement != null) {
      finishWaiting(statement, lost(why));
    }
  }

  private void ended(Session session, Transaction transaction) {
    open.remove(session, transaction);
    session.setTransaction(null);
    locks.release(transaction);
    current.tell(new Notice.TransactionEnded(session.id(), transaction.id()));
  }

  private void noteUse(Session session) {
    Transaction transaction = session.transaction();
    if (transaction != null) {
      current.tell(new Notice.TransactionUsed(session.id(), transaction.id()));
    }
  }

  private static Outcome.Refused lost(String why) {
    return new Outcome.Refused(RefusalCode.TRANSACTION_LOST, why);
  }

  private static Outcome.Refused environmentChanges() {
    return new Outcome.Refused(
        RefusalCode.ENVIRONMENT_CHANGES,
        "statements that write are refused while the Java runtime of the nodes is exchanged; locks"
            + " and leases work. CALL end_runtime_change() ends that");
  }
}
