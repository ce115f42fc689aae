package dev.tollgate.node.replica;

import dev.tollgate.core.Transaction;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionLimits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Tracks which transactions have been open or idle for too long, and whose processes have left or
 * have not shown themselves to this leader. There are few transactions at a time, so each check
 * reads them all. Not thread-safe.
 */
final class TransactionClock {
  private static final long SNAPSHOT_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Limits.SNAPSHOT_PATIENCE_MILLIS);

  private static final long RETURN_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Limits.RETURN_PATIENCE_MILLIS);

  private static final long SHOW_NANOS = TimeUnit.MILLISECONDS.toNanos(Limits.SHOW_PATIENCE_MILLIS);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(Limits.SHOW_PAUSE_MILLIS);

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

  /**
   * Sessions that existed when this leader began, and that it has had no sign of life from. Their
   * processes may be gone with connections to other nodes. As with {@link #leftNanos}, a
   * transaction may come later.
   */
  private final Set<SessionId> unheard = new HashSet<>();

  private long beganNanos;

  /** When one of those was last heard for the first time, or when this leader began. */
  private long shownNanos;

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
    // what arrived before this node began to lead may be what its process sent last
    if (arrivalNanos - beganNanos >= 0 && unheard.remove(session)) {
      shownNanos = Math.max(shownNanos, arrivalNanos);
    }
    Long left = leftNanos.get(session);
    if (left != null && arrivalNanos - left > 0) {
      leftNanos.remove(session);
    }
  }

  void sessionEnded(SessionId session) {
    leftNanos.remove(session);
    unheard.remove(session);
  }

  /** Sets the limits, also for transactions that are open. */
  void limit(TransactionLimits changed) {
    limits = changed;
  }

  /**
   * Starts anew with these transactions, each of which gets its full time.
   *
   * @param sessions which have to show themselves
   */
  void begin(
      Collection<SessionId> sessions,
      Iterable<Transaction> transactions,
      TransactionLimits valid,
      long nowNanos) {
    clear();
    limits = valid;
    unheard.addAll(sessions);
    beganNanos = nowNanos;
    shownNanos = nowNanos;
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
    unheard.clear();
  }

  /**
   * Returns what to propose now.
   *
   * @param connected whether the process of a session is connected to this node
   */
  List<Command> removeDue(long nowNanos, Predicate<SessionId> connected) {
    List<Command> due = new ArrayList<>();
    boolean inTheWay = gapNeeded && nowNanos - gapNeededNanos >= SNAPSHOT_NANOS;
    for (Map.Entry<Long, Open> entry : open.entrySet()) {
      Open one = entry.getValue();
      Command.AbortReason reason = null;
      if (nowNanos - one.proposedNanos >= PATIENCE_NANOS) {
        reason = reasonToEnd(one, inTheWay, nowNanos, connected);
      }
      // only the oldest: later ones may end by themselves meanwhile
      inTheWay = false;
      if (reason != null) {
        one.proposedNanos = nowNanos;
        due.add(new Command.AbortTransaction(one.session, entry.getKey(), reason));
      }
    }
    return due;
  }

  private Command.@Nullable AbortReason reasonToEnd(
      Open one, boolean inTheWay, long nowNanos, Predicate<SessionId> connected) {
    if (nowNanos - one.sinceNanos >= TimeUnit.MILLISECONDS.toNanos(limits.ageMillis())) {
      return Command.AbortReason.AGE;
    }
    if (nowNanos - one.usedNanos >= TimeUnit.MILLISECONDS.toNanos(limits.idleMillis())) {
      return Command.AbortReason.IDLE;
    }
    if (hasLeft(one.session, nowNanos) || isSilent(one.session, nowNanos, connected)) {
      return Command.AbortReason.CLIENT_GONE;
    }
    return inTheWay ? Command.AbortReason.SNAPSHOT : null;
  }

  private boolean hasLeft(SessionId session, long nowNanos) {
    Long left = leftNanos.get(session);
    return left != null && nowNanos - left >= RETURN_NANOS;
  }

  /** True if the process has not shown itself to this leader in the time that it has for that. */
  private boolean isSilent(SessionId session, long nowNanos, Predicate<SessionId> connected) {
    if (!unheard.contains(session)
        || nowNanos - beganNanos < SHOW_NANOS
        || nowNanos - shownNanos < PAUSE_NANOS) {
      return false;
    }
    if (connected.test(session)) {
      // from now on the end of its connections tells
      unheard.remove(session);
      return false;
    }
    return true;
  }
}
