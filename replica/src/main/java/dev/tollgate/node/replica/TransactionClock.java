package dev.tollgate.node.replica;

import dev.tollgate.core.Transaction;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionLimits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tracks which transactions have been open or idle for too long, and whose processes have left.
 * There are few transactions at a time, so each check reads them all. Not thread-safe.
 */
final class TransactionClock {
  private static final long SNAPSHOT_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Limits.SNAPSHOT_PATIENCE_MILLIS);

  private static final long RETURN_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Limits.RETURN_PATIENCE_MILLIS);

  /** How long a proposal may take before it is repeated. */
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

  /**
   * When the processes of sessions left. A session without a transaction is here too: what its
   * process sent before may begin one.
   */
  private final Map<SessionId, Long> leftNanos = new HashMap<>();

  private TransactionLimits limits = TransactionLimits.STANDARD;
  private long gapNeededNanos;
  private boolean gapNeeded;

  /** After some time transactions make way for a snapshot, the oldest first. */
  void gapNeeded(boolean needed, long nowNanos) {
    gapNeeded = needed;
    gapNeededNanos = nowNanos;
  }

  /** Records that a transaction was begun or used. */
  void noteUse(SessionId session, long transaction, long nowNanos) {
    open.computeIfAbsent(transaction, id -> new Open(session, nowNanos)).usedNanos = nowNanos;
  }

  /** Records that the session has read in its transaction, if it has one. */
  void noteUse(SessionId session, long nowNanos) {
    for (Open one : open.values()) {
      if (one.session.equals(session)) {
        one.usedNanos = nowNanos;
      }
    }
  }

  void ended(long transaction) {
    open.remove(transaction);
  }

  /** Records that the process of a session has left this node. */
  void left(SessionId session, long leavingNanos) {
    leftNanos.put(session, leavingNanos);
  }

  /** Records a sign of life that arrived at this time. */
  void returned(SessionId session, long arrivalNanos) {
    Long left = leftNanos.get(session);
    if (left != null && arrivalNanos - left > 0) {
      leftNanos.remove(session);
    }
  }

  void sessionEnded(SessionId session) {
    leftNanos.remove(session);
  }

  /** Sets the limits, also for transactions that are open. */
  void limit(TransactionLimits changed) {
    limits = changed;
  }

  /** Starts anew with these transactions, each of which gets its full time. */
  void begin(Iterable<Transaction> transactions, TransactionLimits valid, long nowNanos) {
    clear();
    limits = valid;
    for (Transaction transaction : transactions) {
      noteUse(transaction.session(), transaction.id(), nowNanos);
    }
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  void clear() {
    open.clear();
    leftNanos.clear();
  }

  /** Returns what to propose now. */
  List<Command> removeDue(long nowNanos) {
    List<Command> due = new ArrayList<>();
    boolean inTheWay = gapNeeded && nowNanos - gapNeededNanos >= SNAPSHOT_NANOS;
    for (Map.Entry<Long, Open> entry : open.entrySet()) {
      Open one = entry.getValue();
      Command.AbortReason reason = reasonToEnd(one, inTheWay, nowNanos);
      // only the oldest: later ones may end by themselves meanwhile
      inTheWay = false;
      if (reason != null && nowNanos - one.proposedNanos >= PATIENCE_NANOS) {
        one.proposedNanos = nowNanos;
        due.add(new Command.AbortTransaction(one.session, entry.getKey(), reason));
      }
    }
    return due;
  }

  private Command.@Nullable AbortReason reasonToEnd(Open one, boolean inTheWay, long nowNanos) {
    if (nowNanos - one.sinceNanos >= TimeUnit.MILLISECONDS.toNanos(limits.ageMillis())) {
      return Command.AbortReason.AGE;
    }
    if (nowNanos - one.usedNanos >= TimeUnit.MILLISECONDS.toNanos(limits.idleMillis())) {
      return Command.AbortReason.IDLE;
    }
    Long left = leftNanos.get(one.session);
    if (left != null && nowNanos - left >= RETURN_NANOS) {
      return Command.AbortReason.CLIENT_GONE;
    }
    return inTheWay ? Command.AbortReason.SNAPSHOT : null;
  }
}
