package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.LockWatch;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Whether one grant of a lock goes on, was closed, or was taken away by the cluster while its lease
 * lives, and who is told of a loss. Thread-safe.
 */
final class HoldLife {
  /** Why a lock is lost whose lease is alive. */
  static final String TAKEN = "the cluster has released it";

  private final Lease lease;
  private final String name;
  private final LossListeners listeners;
  private @Nullable LockWatch watch;
  private boolean closed;
  private boolean taken;

  /** While the lock is handed to another lease, and for good if that was done. */
  private boolean moving;

  /** The cluster has said meanwhile that the lease does not hold the lock any more. */
  private boolean takenWhileMoving;

  HoldLife(Lease lease, String name, LossListeners listeners) {
    this.lease = requireNonNull(lease, "lease");
    this.name = requireNonNull(name, "name");
    this.listeners = requireNonNull(listeners, "listeners");
  }

  /** The cluster tells {@link #noticeRelease} by this watch, from now on until the end. */
  void watchedBy(LockWatch watched) {
    boolean over;
    synchronized (this) {
      watch = watched;
      over = closed;
    }
    if (over) {
      watched.close();
    }
  }

  void noticeRelease() {
    synchronized (this) {
      if (closed) {
        return;
      }
      if (moving) {
        takenWhileMoving = true;
        return;
      }
    }
    markTaken();
  }

  /** The cluster has released the lock while its lease is alive. */
  void markTaken() {
    synchronized (this) {
      taken = true;
    }
    lease.forgetListeners(listeners);
    listeners.tell(TAKEN);
    if (lease.isOfLocks() && lease.locks().endHold(List.of(name))) {
      lease.lose(
          "the cluster has released lock '"
              + name
              + "', as force_release_lock and transfer_lock by another session do");
    }
  }

  /** True until the end, or until the cluster has taken the lock; the lease may have ended. */
  synchronized boolean goesOn() {
    return !closed && !taken;
  }

  synchronized boolean isTaken() {
    return taken;
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** Tells a listener of the loss, unless the lock is closed before. */
  void onLost(Consumer<LockLostException> listener) {
    boolean late;
    synchronized (this) {
      if (closed) {
        return;
      }
      late = taken;
      if (!late) {
        listeners.add(listener);
      }
    }
    if (late) {
      // those that were added before were told
      listeners.tellLate(listener, TAKEN);
    } else {
      lease.addListeners(listeners);
      tellIfTaken();
    }
  }

  /** The loss may have come after the listeners were added, and before the lease knew of them. */
  private void tellIfTaken() {
    if (isTaken()) {
      lease.forgetListeners(listeners);
      listeners.tell(TAKEN);
    }
  }

  /** Tells of the loss of this lock whom the lock would have told whose place it takes. */
  void inheritFrom(HoldLife former) {
    former.lease.forgetListeners(former.listeners);
    listeners.takeFrom(former.listeners);
    if (isTaken()) {
      listeners.tell(TAKEN);
    } else {
      lease.addListeners(listeners);
    }
  }

  synchronized void beginMove() {
    moving = true;
  }

  /** The lock was not moved, so what the cluster has said meanwhile was no answer to that. */
  void endMove() {
    boolean lost;
    synchronized (this) {
      moving = false;
      lost = takenWhileMoving && !closed;
    }
    if (lost) {
      markTaken();
    }
  }

  /**
   * Returns false if the hold had ended before. From then on nobody can close it once more, so a
   * lease for this lock alone gets no heartbeats until its release is confirmed, whatever is thrown
   * on the way there.
   */
  boolean end() {
    LockWatch ended;
    boolean first;
    synchronized (this) {
      first = !closed;
      if (first && lease.isOfLocks() && lease.locks().count() <= 1) {
        lease.pauseHeartbeats();
      }
      closed = true;
      ended = watch;
      watch = null;
    }
    if (ended != null) {
      ended.close();
    }
    if (first) {
      // tells of a loss that nobody has found yet
      var unused = lease.isAlive();
      lease.forgetListeners(listeners);
      listeners.clear();
    }
    return first;
  }
}
