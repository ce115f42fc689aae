package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A lease that was created by a call and that this process keeps alive, also after the session that
 * created the lease has ended. Thread-safe.
 */
public final class KeptLease implements AutoCloseable {
  private final Renewal renewal;
  private final Cluster cluster;
  private final Runnable onEnd;
  private final WatchedLocks locks;
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param onEnd called once, when this process keeps the lease no longer
   */
  KeptLease(Renewal renewal, Cluster cluster, Runnable onEnd) {
    this.renewal = requireNonNull(renewal, "renewal");
    this.cluster = requireNonNull(cluster, "cluster");
    this.onEnd = requireNonNull(onEnd, "onEnd");
    this.locks = new WatchedLocks(renewal.id());
  }

  /** True if it is certain, without asking the cluster, that the lease is alive. */
  public boolean isProven() {
    return renewal.isProven(cluster.environment().nanos());
  }

  /** How long {@link #isProven} stays true if no further heartbeat succeeds. */
  public Duration remaining() {
    return renewal.remaining(cluster.environment().nanos());
  }

  /**
   * Sends no heartbeats until {@link #resumeHeartbeats}: a lease of which it is not certain that
   * somebody will end it must not be kept alive meanwhile.
   */
  public void pauseHeartbeats() {
    renewal.pause();
  }

  public void resumeHeartbeats() {
    renewal.resume();
  }

  /** Sends no more heartbeats; from now on only {@link #renewed} moves the end of the proof. */
  public void stopHeartbeats() {
    cluster.stopHeartbeats(renewal);
  }

  /**
   * Records that a call has renewed the lease.
   *
   * @param age time since that call began
   */
  public void renewed(Duration age) {
    renewal.renewed(cluster.environment().nanos() - age.toNanos());
  }

  /**
   * Tells once if the lease loses a lock, whoever released it, until the watch or the lease is
   * closed. The leader pushes the loss; after a change of leaders the next one is asked. Nodes of
   * an earlier version tell nothing.
   *
   * @param token under which the lease was granted the lock
   * @param age time since the request for the lock began
   * @param onLost called by the thread of the heartbeats, or at once: must return quickly
   */
  public LockWatch watchLock(long token, Duration age, Runnable onLost) {
    LockWatch watch = new LockWatch(locks, token, onLost, cluster::forget);
    cluster.watchLock(locks, watch, cluster.environment().nanos() - age.toNanos());
    return watch;
  }

  /** Stops keeping the lease alive; the lease expires after its ttl. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      cluster.forget(renewal);
      cluster.forget(locks);
      onEnd.run();
    }
  }
}
