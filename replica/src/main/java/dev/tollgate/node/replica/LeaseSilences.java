package dev.tollgate.node.replica;

import dev.tollgate.core.Lease;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Leases that this leader has not heard from since it began to lead, and leases that nobody renews.
 * The log records from time to time what they have left, so that successive leaders do not each
 * give them their full ttl. Once something is recorded of a lease, or may be, a renewal is recorded
 * too before it is acknowledged. Other leases are renewed without an entry. Not thread-safe.
 */
final class LeaseSilences {
  /** What a silent lease has left is recorded after each of this many parts of its ttl. */
  private static final int STEPS = 8;

  /** The same for a node that is alone, which may be started for a moment, again and again. */
  private static final int STEPS_ALONE = 32;

  /** Shorter silences are normal in an election. */
  private static final long STEP_MIN_MILLIS = 250;

  private static final class Silence {
    final long stepNanos;

    /** {@link Lease#recordedRenewals} in the replicated state. */
    final long recordedRenewals;

    /** True once less than the ttl is recorded, or may be. */
    boolean recorded;

    /** True while the end of the silence is proposed. */
    boolean ends;

    Silence(long stepNanos, long recordedRenewals, boolean recorded) {
      this.stepNanos = stepNanos;
      this.recordedRenewals = recordedRenewals;
      this.recorded = recorded;
    }
  }

  private final BooleanSupplier alone;
  private final Map<LeaseId, Silence> silences = new HashMap<>();
  private final DeadlineQueue<LeaseId> due = new DeadlineQueue<>();

  /**
   * @param alone whether this node is the whole cluster
   */
  LeaseSilences(BooleanSupplier alone) {
    this.alone = alone;
  }

  /** Adds a lease that existed when this leader began to lead. */
  void add(Lease lease, long now) {
    add(
        lease.id(),
        new Silence(
            stepNanos(lease.ttlMillis()),
            lease.recordedRenewals(),
            lease.remainingMillis() < lease.ttlMillis()),
        now);
  }

  /** Adds a lease that was just made and that nobody renews. */
  void addNew(LeaseId lease, long ttlMillis, long now) {
    add(lease, new Silence(stepNanos(ttlMillis), /* recordedRenewals= */ 0, false), now);
  }

  private void add(LeaseId lease, Silence silence, long now) {
    silences.put(lease, silence);
    due.add(lease, silence.stepNanos, now);
  }

  private long stepNanos(long ttlMillis) {
    long step = ttlMillis / (alone.getAsBoolean() ? STEPS_ALONE : STEPS);
    return TimeUnit.MILLISECONDS.toNanos(Math.max(step, STEP_MIN_MILLIS));
  }

  /** Removes a lease that has ended. */
  void remove(LeaseId lease) {
    silences.remove(lease);
    due.remove(lease);
  }

  /**
   * Records that the lease was renewed.
   *
   * @return true if the renewal must not be acknowledged before the log has it
   */
  boolean heard(LeaseId lease) {
    Silence silence = silences.get(lease);
    if (silence == null) {
      return false;
    }
    due.remove(lease);
    if (!silence.recorded) {
      silences.remove(lease);
    }
    return silence.recorded;
  }

  /** Returns what to propose for a lease that was heard, or null if it is proposed already. */
  Command.@Nullable RecordRenewal end(LeaseId lease) {
    Silence silence = silences.get(lease);
    if (silence == null || silence.ends) {
      return null;
    }
    silence.ends = true;
    return new Command.RecordRenewal(lease, silence.recordedRenewals);
  }

  /**
   * Records what became of a proposal.
   *
   * @param applied false if that is unknown
   */
  void ended(Command.RecordRenewal proposal, boolean applied) {
    Silence silence = silences.get(proposal.lease());
    if (silence != null && silence.recordedRenewals == proposal.recordedRenewals()) {
      silence.ends = false;
      if (applied) {
        silences.remove(proposal.lease());
      }
    }
  }

  /**
   * Returns what to record now.
   *
   * @param remaining nanoseconds that a lease has left, or null if it has ended
   */
  List<Command.SilentLease> removeDue(long now, Function<LeaseId, @Nullable Long> remaining) {
    List<Command.SilentLease> silent = new ArrayList<>();
    for (LeaseId lease : due.removeDue(now)) {
      Silence silence = silences.get(lease);
      Long left = remaining.apply(lease);
      if (silence != null && left != null && left > 0) {
        silence.recorded = true;
        due.add(lease, silence.stepNanos, now);
        silent.add(record(lease, silence.recordedRenewals, left));
      }
    }
    return silent;
  }

  /** Rounds up: a lease may live longer than was recorded, but not shorter. */
  static Command.SilentLease record(LeaseId lease, long recordedRenewals, long leftNanos) {
    long millis = TimeUnit.NANOSECONDS.toMillis(leftNanos + TimeUnit.MILLISECONDS.toNanos(1) - 1);
    return new Command.SilentLease(lease, recordedRenewals, millis);
  }

  void clear() {
    silences.clear();
    due.clear();
  }
}
