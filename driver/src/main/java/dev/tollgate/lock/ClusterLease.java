package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.KeptLease;
import dev.tollgate.transport.LockWatch;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lease as the cluster has it, with the heartbeats that keep it alive and prove it. It may serve
 * one {@link Lease} after another. Thread-safe.
 */
final class ClusterLease {
  private final long id;
  private final Duration ttl;
  private final String owner;
  private final Duration margin;
  private @Nullable KeptLease heartbeats;
  private @Nullable Future<?> deadline;
  private @Nullable Consumer<String> whenEnded;
  private @Nullable String endedBecause;
  private boolean closed;

  /**
   * @param owner empty for the name of the application
   * @param margin how long before the end of the proof the lease counts as ended
   */
  ClusterLease(long id, Duration ttl, String owner, Duration margin) {
    this.id = id;
    this.ttl = requireNonNull(ttl, "ttl");
    this.owner = requireNonNull(owner, "owner");
    this.margin = requireNonNull(margin, "margin");
  }

  /** Takes over the heartbeats, and watches the deadline of their proof from now on. */
  void keptBy(KeptLease kept, ClientThreads threads) {
    synchronized (this) {
      heartbeats = requireNonNull(kept, "kept");
    }
    watchDeadline(threads);
  }

  private void watchDeadline(ClientThreads threads) {
    Duration left = remaining();
    if (left.isZero()) {
      ended("it was not renewed in time");
      return;
    }
    synchronized (this) {
      if (!closed) {
        deadline = threads.runLater(left.plusMillis(1), () -> watchDeadline(threads));
      }
    }
  }

  long id() {
    return id;
  }

  Duration ttl() {
    return ttl;
  }

  String owner() {
    return owner;
  }

  Duration margin() {
    return margin;
  }

  /** How long the proof lasts if nothing renews the lease; zero if there is none. */
  Duration remaining() {
    Duration left = heartbeats().remaining().minus(margin);
    return left.isNegative() ? Duration.ZERO : left;
  }

  private synchronized KeptLease heartbeats() {
    return requireNonNull(heartbeats, "heartbeats");
  }

  /** Sends no more heartbeats: the lease ends with its ttl, unless a call renews it. */
  void stopHeartbeats() {
    heartbeats().stopHeartbeats();
  }

  /** As {@link KeptLease#pauseHeartbeats}. */
  void pauseHeartbeats() {
    heartbeats().pauseHeartbeats();
  }

  void resumeHeartbeats() {
    heartbeats().resumeHeartbeats();
  }

  /**
   * Records that a call has renewed the lease.
   *
   * @param age time since that call began
   */
  void renewed(Duration age) {
    heartbeats().renewed(age);
  }

  /**
   * Tells once if the lease loses a lock in the cluster.
   *
   * @param token under which the lease was granted the lock
   * @param age time since the request for the lock began
   * @param onLost called by the thread of the heartbeats, or at once: must return quickly
   */
  LockWatch watchLock(long token, Duration age, Runnable onLost) {
    return heartbeats().watchLock(token, age, onLost);
  }

  /**
   * Whom to tell once that the cluster has ended the lease, or that its proof has ended; replaces
   * the one before.
   *
   * @param told gets the reason
   */
  void whenEnded(Consumer<String> told) {
    String because;
    synchronized (this) {
      because = endedBecause;
      if (because == null) {
        whenEnded = told;
        return;
      }
    }
    told.accept(because);
  }

  /** The cluster has ended the lease, or may have. */
  void ended(String because) {
    Consumer<String> told;
    synchronized (this) {
      endedBecause = because;
      told = whenEnded;
      whenEnded = null;
    }
    if (told != null) {
      told.accept(because);
    }
  }

  /** Stops keeping the lease alive. */
  void close() {
    synchronized (this) {
      closed = true;
      if (deadline != null) {
        deadline.cancel(false);
      }
    }
    heartbeats().close();
  }

  @Override
  public String toString() {
    return owner.isEmpty() ? "lease " + id : "lease " + id + " of '" + owner + "'";
  }
}
