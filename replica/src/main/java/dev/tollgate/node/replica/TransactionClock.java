package dev.tollgate.node.replica;

import dev.tollgate.core.Command;
import dev.tollgate.core.Limits;
import dev.tollgate.core.SessionId;
import dev.tollgate.core.Transaction;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Which transactions have been open or idle for too long. There are few at a time, so all are
 * looked at. Not thread-safe.
 */
final class TransactionClock {
  private static final long AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(Limits.TRANSACTION_MILLIS);
  private static final long IDLE_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Limits.TRANSACTION_IDLE_MILLIS);

  /** How long a proposal may take before it is made again. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final class Open {
    final SessionId session;
    final long sinceNanos;
    long usedNanos;
    long proposedNanos;

    Open(SessionId session, long nowNanos) {
      this.session = session;
      this.sinceNanos = nowNanos;
      this.usedNanos = nowNanos;
      this.proposedNanos = nowNanos - PATIENCE_NANOS;
    }
  }

  private final Map<Long, Open> open = new LinkedHashMap<>();

  /** A transaction was begun, or used. */
  void used(SessionId session, long transaction, long nowNanos) {
    open.computeIfAbsent(transaction, id -> new Open(session, nowNanos)).usedNanos = nowNanos;
  }

  /** The session has read in its transaction, if it has one. */
  void used(SessionId session, long nowNanos) {
    for (Open one : open.values()) {
      if (one.session.equals(session)) {
        one.usedNanos = nowNanos;
      }
    }
  }

  void ended(long transaction) {
    open.remove(transaction);
  }

  /** Begins anew with these transactions, each of which gets its full time. */
  void begin(Iterable<Transaction> transactions, long nowNanos) {
    open.clear();
    for (Transaction transaction : transactions) {
      used(transaction.session(), transaction.id(), nowNanos);
    }
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  void clear() {
    open.clear();
  }

  /** What is to be proposed now. */
  List<Command> takeDue(long nowNanos) {
    List<Command> due = new ArrayList<>();
    open.forEach(
        (id, one) -> {
          boolean old = nowNanos - one.sinceNanos >= AGE_NANOS;
          boolean idle = nowNanos - one.usedNanos >= IDLE_NANOS;
          if ((old || idle) && nowNanos - one.proposedNanos >= PATIENCE_NANOS) {
            one.proposedNanos = nowNanos;
            due.add(
                new Command.AbortTransaction(
                    one.session, id, old ? Command.AbortReason.AGE : Command.AbortReason.IDLE));
          }
        });
    return due;
  }
}
