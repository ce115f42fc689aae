package dev.tollgate.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The open transactions, and the statements that wait for them. Whoever waits is part of the
 * replicated state, so the order survives a failover, and is tried again in the very entry that
 * ends what it waited for.
 *
 * <ul>
 *   <li>A statement that needs a row of an open transaction waits for that one to end. If that
 *       closes a cycle of transactions that wait for each other, the youngest of them is rolled
 *       back at once.
 *   <li>A definition commits its session's own transaction, and waits for others that hold what it
 *       changes; while it waits, no new transaction begins.
 *   <li>A serializable transaction begins when no other is open, and until it ends nobody else
 *       writes.
 * </ul>
 */
final class Transactions {
  /** Makes what a statement of a session may ask the core. */
  interface Contexts {
    SqlWrite of(Session session, @Nullable Transaction transaction, boolean ownLeaseTrusted);
  }

  /** Told what concerns others. */
  interface Listener {
    void noticed(Notice notice);
  }

  private final Capacity capacity;
  private final SqlStore store;
  private final SessionTable sessions;
  private final Contexts contexts;
  private final Listener listener;
  private final BooleanSupplier paused;
  private final SortedMap<Long, Transaction> open = new TreeMap<>();

  /** In the order in which they came; a session waits with one statement at most. */
  private final Map<SessionId, PendingStatement> waiting = new LinkedHashMap<>();

  private long waitingBytes;
  private long lastId;

  /**
   * @param paused whether statements are refused, because the environment changes in which they are
   *     computed
   */
  Transactions(
      Capacity capacity,
      SqlStore store,
      SessionTable sessions,
      Contexts contexts,
      Listener listener,
      BooleanSupplier paused) {
    this.capacity = capacity;
    this.store = store;
    this.sessions = sessions;
    this.contexts = contexts;
    this.listener = listener;
    this.paused = paused;
  }

  /** Open transactions in the order in which they began. */
  Collection<Transaction> open() {
    return Collections.unmodifiableCollection(open.values());
  }

  /** The highest number of a transaction so far, 0 if there was none. */
  long lastId() {
    return lastId;
  }

  void restoreLastId(long id) {
    lastId = id;
  }

  /** How many statements wait for the end of a transaction, of this one alone. */
  long waitersFor(Transaction transaction) {
    long count = 0;
    for (PendingStatement statement : waiting.values()) {
      if (statement.blocker() instanceof PendingStatement.Blocker.Holder holder
          && holder.transaction() == transaction.id()) {
        count++;
      }
    }
    return count;
  }

  /**
   * Carries out an operation on the database, or lets it wait.
   *
   * @param waitMillis how long it waits unless it says so itself
   * @return its outcome, or {@link Outcome.Waiting}
   */
  Outcome run(PendingStatement statement, long nowMicros, long waitMillis) {
    Session session = statement.session();
    String lost = session.lostTransaction();
    if (lost != null && statement.mode() != TransactionMode.AUTOCOMMIT) {
      session.forgetLostTransaction();
      return lost(lost);
    }
    Long ownWait = attempt(statement, nowMicros);
    if (statement.outcome() == null && !mayWait(statement)) {
      statement.finish(whole(statement, tooManyWait()));
    }
    if (statement.outcome() == null) {
      waiting.put(session.id(), statement);
      waitingBytes += statement.sizeBytes();
      breakDeadlock(statement);
    }
    settle(nowMicros);
    Outcome outcome = statement.outcome();
    if (outcome == null) {
      session.waitFor(statement);
      long wait = ownWait == null ? waitMillis : ownWait;
      listener.noticed(new Notice.WaitStarted(session.id(), statement.request().sequence(), wait));
      return new Outcome.Waiting();
    }
    return outcome;
  }

  /** Ends the session's transaction. */
  Outcome end(Session session, boolean commit, long nowMicros) {
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
    settle(nowMicros);
    return refused == null ? new Outcome.Done() : refused;
  }

  /** Rolls a transaction back against the will of its session. */
  boolean abort(SessionId id, long transactionId, Command.AbortReason reason, long nowMicros) {
    Transaction transaction = open.get(transactionId);
    if (transaction == null || !transaction.session().equals(id)) {
      return false;
    }
    Session session = sessions.existing(id);
    boolean atWork = session.pending() != null || session.awaited() != null;
    if (reason == Command.AbortReason.IDLE && atWork) {
      return false;
    }
    abort(
        session,
        transaction,
        switch (reason) {
          case AGE ->
              "the transaction was rolled back because it was open for "
                  + Limits.TRANSACTION_MILLIS / 60_000
                  + " minutes: do the work in shorter transactions";
          case IDLE ->
              "the transaction was rolled back because nothing came for "
                  + Limits.TRANSACTION_IDLE_MILLIS / 1_000
                  + " s: commit before you wait for something else";
          case SNAPSHOT ->
              "the transaction was rolled back because a snapshot needs a moment without"
                  + " transactions and waited for one for "
                  + Limits.SNAPSHOT_PATIENCE_MILLIS / 1_000
                  + " s: run it again, and keep transactions short";
        });
    settle(nowMicros);
    return true;
  }

  /** A session ends, and with it what it has open. */
  void sessionEnds(Session session, long nowMicros) {
    Transaction transaction = session.transaction();
    if (transaction != null) {
      rollback(session, transaction);
      settle(nowMicros);
    }
  }

  /** Takes the session's statement out of the queue, if it waits; false if it does not. */
  boolean endWait(Session session, Outcome end, long nowMicros) {
    PendingStatement statement = session.pending();
    if (statement == null) {
      return false;
    }
    finishWaiting(statement, whole(statement, end));
    settle(nowMicros);
    return true;
  }

  /** What is left of a batch ends as this one; the executions before have their own outcome. */
  private static Outcome whole(PendingStatement statement, Outcome end) {
    if (!(statement.operation() instanceof Operation.ExecuteSql sql) || !sql.batch()) {
      return end;
    }
    List<Outcome> outcomes = new ArrayList<>(statement.done());
    while (outcomes.size() < sql.parameterSets().size()) {
      outcomes.add(end);
    }
    return new Outcome.Batch(outcomes);
  }

  private void finishWaiting(PendingStatement statement, Outcome outcome) {
    if (waiting.remove(statement.session().id(), statement)) {
      waitingBytes -= statement.sizeBytes();
    }
    statement.finish(outcome);
    Session session = statement.session();
    if (session.pending() == statement) {
      session.finish(outcome);
      RequestId request = statement.request();
      listener.noticed(new Notice.Completed(request.session(), request.sequence(), outcome));
      used(session);
    }
  }

  /**
   * Tries a statement; it then has an outcome or a blocker.
   *
   * @return how long it says itself that it waits, or null
   */
  private @Nullable Long attempt(PendingStatement statement, long nowMicros) {
    if (paused.getAsBoolean()) {
      statement.finish(whole(statement, environmentChanges()));
      return null;
    }
    Session session = statement.session();
    Transaction own = session.transaction();
    if (statement.isDefinition() && own != null) {
      Outcome.Refused refused = commit(session, own);
      if (refused != null) {
        statement.finish(refused);
        return null;
      }
    }
    PendingStatement.Blocker blocker = blockerOf(statement);
    if (blocker != null) {
      statement.waitFor(blocker);
      return null;
    }
    if (statement.begins()) {
      if (open.size() >= Limits.OPEN_TRANSACTIONS) {
        statement.finish(tooMany());
        return null;
      }
      begin(session, statement.mode(), nowMicros);
    }
    used(session);
    return perform(statement);
  }

  private void begin(Session session, TransactionMode mode, long nowMicros) {
    Transaction transaction =
        new Transaction(++lastId, session.id(), mode == TransactionMode.SERIALIZABLE, nowMicros);
    store.begin(session.id());
    session.setTransaction(transaction);
    open.put(transaction.id(), transaction);
  }

  /** Why a statement may not even be tried, or null. */
  private PendingStatement.@Nullable Blocker blockerOf(PendingStatement statement) {
    Transaction own = statement.session().transaction();
    for (Transaction other : open.values()) {
      if (other != own && other.isSerializable()) {
        return new PendingStatement.Blocker.Holder(other.id(), null);
      }
    }
    boolean others = open.size() > (own == null ? 0 : 1);
    if (statement.needsToBeAlone()) {
      return others ? new PendingStatement.Blocker.Others() : null;
    }
    return statement.begins() && isOvertaking(statement)
        ? new PendingStatement.Blocker.Turn()
        : null;
  }

  /** True if somebody who came earlier would never get its turn if new transactions began. */
  private boolean isOvertaking(PendingStatement statement) {
    for (PendingStatement earlier : waiting.values()) {
      if (earlier == statement) {
        return false;
      }
      if (earlier.isDefinition() || earlier.blocker() instanceof PendingStatement.Blocker.Others) {
        return true;
      }
    }
    return false;
  }

  private @Nullable Long perform(PendingStatement statement) {
    Session session = statement.session();
    Transaction transaction = session.transaction();
    Operation operation = statement.operation();
    if (operation instanceof Operation.ExecuteSql sql) {
      return execute(statement, sql, transaction);
    }
    Outcome outcome =
        operation instanceof Operation.FenceTable fence
            ? store.fenceTable(fence, contexts.of(session, null, fence.ownLeaseTrusted()))
            : operation instanceof Operation.UnfenceTable unfence
                ? store.unfenceTable(unfence, contexts.of(session, null, unfence.ownLeaseTrusted()))
                : operation instanceof Operation.MarkSavepoint savepoint
                    ? store.savepoint(session.id(), savepoint)
                    : new Outcome.Done();
    if (outcome instanceof Outcome.Conflict conflict) {
      waitForHolder(statement, conflict);
    } else {
      statement.finish(outcome);
    }
    return null;
  }

  private void waitForHolder(PendingStatement statement, Outcome.Conflict conflict) {
    Transaction holder = sessions.existing(conflict.with()).transaction();
    if (holder == null || holder == statement.session().transaction()) {
      throw new IllegalStateException("conflict with session " + conflict.with());
    }
    statement.waitFor(new PendingStatement.Blocker.Holder(holder.id(), conflict.row()));
  }

  private @Nullable Long execute(
      PendingStatement statement, Operation.ExecuteSql sql, @Nullable Transaction transaction) {
    SqlWrite context = contexts.of(statement.session(), transaction, sql.ownLeaseTrusted());
    while (statement.executions() < sql.parameterSets().size()) {
      if (statement.isFull()) {
        statement.executed(batchTooLarge());
        continue;
      }
      if (transaction != null) {
        if (transaction.statements() >= Limits.STATEMENTS_PER_TRANSACTION) {
          statement.finish(tooLong());
          return null;
        }
        transaction.countStatement();
      }
      Outcome outcome = store.execute(sql, statement.executions(), context);
      if (outcome instanceof Outcome.Conflict conflict) {
        waitForHolder(statement, conflict);
        return conflict.waitMillis();
      }
      statement.executed(outcome);
    }
    List<Outcome> done = statement.done();
    statement.finish(sql.batch() ? new Outcome.Batch(done) : done.get(0));
    return null;
  }

  /**
   * Tries those that waited for what has ended, in the order in which they came. A statement whose
   * row another transaction holds by now waits for that transaction and is not tried: otherwise n
   * statements that wait for one row would run n times each.
   */
  private void settle(long nowMicros) {
    Map<RowKey, Transaction> holders = new LinkedHashMap<>();
    boolean again = !waiting.isEmpty();
    while (again) {
      again = false;
      for (PendingStatement statement : List.copyOf(waiting.values())) {
        if (statement.outcome() == null && isClear(statement)) {
          if (!waitForNewHolder(statement, holders)) {
            attempt(statement, nowMicros);
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
   * Lets a statement wait for the transaction that holds its row by now.
   *
   * @param holders those that were found before: they hold their rows until they end
   * @return false if no other transaction holds the row, or the row is not known
   */
  private boolean waitForNewHolder(PendingStatement statement, Map<RowKey, Transaction> holders) {
    RowKey row =
        statement.blocker() instanceof PendingStatement.Blocker.Holder last ? last.row() : null;
    if (row == null) {
      return false;
    }
    Transaction holder = holders.get(row);
    if (holder == null || !open.containsKey(holder.id())) {
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

  private boolean isClear(PendingStatement statement) {
    return statement.blocker() instanceof PendingStatement.Blocker.Holder holder
        ? !open.containsKey(holder.transaction())
        : blockerOf(statement) == null;
  }

  /**
   * Rolls back the youngest of the transactions that wait for each other.
   *
   * @return false if there are none
   */
  private boolean breakDeadlock(PendingStatement statement) {
    Transaction own = statement.session().transaction();
    Transaction youngest = own;
    Transaction next = own == null ? null : holderBefore(own);
    while (next != null && youngest != null && next != own) {
      if (next.id() > youngest.id()) {
        youngest = next;
      }
      next = holderBefore(next);
    }
    if (next == null || youngest == null) {
      return false;
    }
    abort(
        sessions.existing(youngest.session()),
        youngest,
        "the transaction was rolled back because it and others waited for each other's rows"
            + " (deadlock): run it again");
    return true;
  }

  /** The transaction that this one waits for. */
  private @Nullable Transaction holderBefore(Transaction transaction) {
    PendingStatement statement = waiting.get(transaction.session());
    return statement != null
            && statement.blocker() instanceof PendingStatement.Blocker.Holder holder
        ? open.get(holder.transaction())
        : null;
  }

  private Outcome.@Nullable Refused commit(Session session, Transaction transaction) {
    Outcome.Refused refused = contexts.of(session, transaction, true).admitCommit(transaction);
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
    PendingStatement statement = waiting.get(session.id());
    if (statement == null) {
      // before the transaction ends: other threads read both without a lock
      session.loseTransaction(why);
    }
    rollback(session, transaction);
    if (statement != null) {
      finishWaiting(statement, lost(why));
    }
  }

  private void ended(Session session, Transaction transaction) {
    open.remove(transaction.id());
    session.setTransaction(null);
    listener.noticed(new Notice.TransactionEnded(session.id(), transaction.id()));
  }

  private void used(Session session) {
    Transaction transaction = session.transaction();
    if (transaction != null) {
      listener.noticed(new Notice.TransactionUsed(session.id(), transaction.id()));
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

  private static Outcome.Refused tooMany() {
    return new Outcome.Refused(
        RefusalCode.LIMIT_REACHED,
        Limits.OPEN_TRANSACTIONS
            + " transactions are open, and no more can be: let fewer connections hold transactions"
            + " open, or for a shorter time");
  }

  private boolean mayWait(PendingStatement statement) {
    return waiting.size() < capacity.waitingStatements()
        && waitingBytes + statement.sizeBytes() <= capacity.waitingBytes();
  }

  private Outcome.Refused tooManyWait() {
    return new Outcome.Refused(
        RefusalCode.LIMIT_REACHED,
        "the statement would have to wait for a transaction to end, and "
            + waiting.size()
            + " statements of "
            + waitingBytes
            + " bytes wait already, at most "
            + capacity.waitingStatements()
            + " and "
            + capacity.waitingBytes()
            + " bytes may: try again later, and keep transactions short");
  }

  private static Outcome.Refused batchTooLarge() {
    return new Outcome.Refused(
        RefusalCode.LIMIT_REACHED,
        "the set was not run, because the results of those before it have more than "
            + Limits.BATCH_RESULT_BYTES
            + " bytes: send fewer sets in a batch, or ask for fewer generated keys");
  }

  private static Outcome.Refused tooLong() {
    return new Outcome.Refused(
        RefusalCode.LIMIT_REACHED,
        "the transaction has carried out "
            + Limits.STATEMENTS_PER_TRANSACTION
            + " statements, and no more can be: commit more often");
  }

  /**
   * Checks all that must hold between two commands.
   *
   * @throws IllegalStateException naming what is broken
   */
  void checkInvariants() {
    long bytes = 0;
    for (PendingStatement statement : waiting.values()) {
      bytes += statement.sizeBytes();
    }
    if (bytes != waitingBytes) {
      throw new IllegalStateException(bytes + " waiting bytes are counted as " + waitingBytes);
    }
    for (Transaction transaction : open.values()) {
      if (sessions.existing(transaction.session()).transaction() != transaction) {
        throw new IllegalStateException("transaction " + transaction.id() + " has no session");
      }
      if (transaction.isSerializable() && open.size() > 1) {
        throw new IllegalStateException("transaction " + transaction.id() + " is not alone");
      }
    }
    for (PendingStatement statement : waiting.values()) {
      if (statement.session().pending() != statement || isClear(statement)) {
        throw new IllegalStateException(statement.request() + " waits for nothing");
      }
    }
  }
}
