package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.RowKey;
import dev.tollgate.core.command.SeriesEnd;
import dev.tollgate.core.command.TransactionScope;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An operation on the database that is being tried: its progress, and what it waits for. */
final class PendingStatement {
  /** What has to happen before the operation is tried again. */
  sealed interface Blocker {
    /**
     * A transaction has to end, because it holds a row, or the right to be the only writer.
     *
     * @param row the row, if the store can name it
     */
    record Holder(long transaction, @Nullable RowKey row) implements Blocker {}

    /** The lock of a transaction or of the statement has to be granted. */
    record LockTurn(LockName lock) implements Blocker {}

    /** All other transactions have to end. */
    record Others() implements Blocker {}

    /** An earlier definition, or an earlier statement that waits for all others, goes first. */
    record Turn() implements Blocker {}
  }

  private final Session session;
  private final RequestId request;
  private final Operation operation;
  private final TransactionScope mode;
  private final boolean definition;
  private final List<Outcome> done = new ArrayList<>();
  private final long sizeBytes;
  private long resultBytes;
  private boolean failed;
  private @Nullable Blocker blocker;
  private boolean granted;

  /** What holds the lock of a LOCKED BY statement, or waits for it, while it does. */
  private @Nullable Lease lease;

  private @Nullable Outcome outcome;

  PendingStatement(
      Session session, Operation operation, TransactionScope mode, boolean definition) {
    this.session = requireNonNull(session, "session");
    this.operation = requireNonNull(operation, "operation");
    this.mode = requireNonNull(mode, "mode");
    this.definition = definition;
    this.sizeBytes = sizeOf(operation);
    this.request = new RequestId(session.id(), session.lastSequence());
  }

  Session session() {
    return session;
  }

  RequestId request() {
    return request;
  }

  Operation operation() {
    return operation;
  }

  /** Bytes of the statement's text and parameters. */
  long sizeBytes() {
    return sizeBytes;
  }

  private static long sizeOf(Operation operation) {
    if (operation instanceof Operation.ExecuteSeries series) {
      long bytes = 0;
      for (Operation.ExecuteSql statement : series.statements()) {
        bytes += sizeOf(statement);
      }
      return bytes;
    }
    if (operation instanceof Operation.DefineMarked marked) {
      long bytes = sizeOf(marked.definition());
      for (Operation.ExecuteSql mark : marked.marks()) {
        bytes += sizeOf(mark);
      }
      return bytes;
    }
    if (!(operation instanceof Operation.ExecuteSql execute)) {
      return 0;
    }
    long bytes = 2L * execute.sql().length();
    for (Operation.ParameterSet set : execute.parameterSets()) {
      bytes += set.values().sizeBytes();
    }
    return bytes;
  }

  TransactionScope mode() {
    return mode;
  }

  /** Returns true if it changes definitions, which commits the session's transaction first. */
  boolean isDefinition() {
    return definition;
  }

  /** Returns true if it would begin a transaction. */
  boolean begins() {
    return !definition && mode != TransactionScope.AUTOCOMMIT && session.transaction() == null;
  }

  /** Returns true if it can only run while no other session has a transaction. */
  boolean needsToBeAlone() {
    return begins() && mode == TransactionScope.SERIALIZABLE;
  }

  /**
   * The outcomes of the finished executions of a batch or a series. A live view that grows: do not
   * keep it.
   */
  List<Outcome> done() {
    return Collections.unmodifiableList(done);
  }

  /** How many executions have finished. */
  int executions() {
    return done.size();
  }

  /** Records that the pending execution has finished. */
  void executed(Outcome execution) {
    done.add(execution);
    if (execution instanceof Outcome.Executed success) {
      resultBytes += success.result().sizeBytes();
    } else {
      failed = true;
    }
  }

  /** Returns true if another execution is to be tried. */
  boolean hasNext(Operation.Executions executions) {
    boolean stopped = executions.stopsAtFailure() && failed;
    return !stopped && done.size() < executions.count();
  }

  /**
   * Returns true if all statements of a series have succeeded and the transaction is to be
   * committed.
   */
  boolean isToCommit() {
    return operation instanceof Operation.ExecuteSeries series
        && series.end() == SeriesEnd.COMMIT
        && !failed
        && done.size() == series.count();
  }

  /** Returns true if the results of a batch leave no room for another. */
  boolean isFull() {
    return resultBytes > Limits.BATCH_RESULT_BYTES;
  }

  /**
   * Returns the outcome if the rest of the operation ends so; finished executions of a batch stand.
   */
  Outcome endedBy(Outcome end) {
    if (!(operation instanceof Operation.Executions executions) || !executions.batch()) {
      return end;
    }
    List<Outcome> outcomes = new ArrayList<>(done);
    int ended = executions.stopsAtFailure() ? done.size() + 1 : executions.count();
    while (outcomes.size() < ended) {
      outcomes.add(end);
    }
    return new Outcome.Batch(outcomes);
  }

  @Nullable Blocker blocker() {
    return blocker;
  }

  void waitFor(Blocker reason) {
    blocker = reason;
    granted = false;
  }

  /** Records that the lock for which the operation waits has been granted. */
  void lockGranted() {
    granted = true;
  }

  /** Returns true if the lock for which the operation waited has been granted. */
  boolean isLockGranted() {
    return granted;
  }

  @Nullable Lease lease() {
    return lease;
  }

  void setLease(@Nullable Lease held) {
    lease = held;
  }

  /** The lock in whose queue the operation stands, or null. */
  @Nullable LockName awaitedLock() {
    return blocker instanceof Blocker.LockTurn turn ? turn.lock() : null;
  }

  /** The statement as it stands in a snapshot, if it waits for the lock of LOCKED BY. */
  List<StateRecord> state() {
    LockName lock = awaitedLock();
    Lease holder = lease;
    return lock != null && holder != null && operation instanceof Operation.ExecuteSql sql
        ? List.of(new StateRecord.WaitingStatement(session.id(), holder.id(), lock, sql, done))
        : List.of();
  }

  /** How the operation, or its pending execution, ends if the time to wait is over. */
  Outcome timedOut() {
    return operation instanceof Operation.AcquireTransactionLock
        ? new Outcome.NotGranted()
        : notFreeInTime();
  }

  /** Worded as in H2, because tools know this error. */
  private Outcome notFreeInTime() {
    LockName lock = awaitedLock();
    return new Outcome.SqlFailed(
        "HYT00",
        50200,
        "Timeout trying to lock: "
            + (lock == null ? "other transactions did not end" : "lock '" + lock + "' was not free")
            + " in time, SET LOCK_TIMEOUT allows more");
  }

  /** The outcome, once there is one. */
  @Nullable Outcome outcome() {
    return outcome;
  }

  void finish(Outcome end) {
    outcome = end;
    blocker = null;
  }
}
