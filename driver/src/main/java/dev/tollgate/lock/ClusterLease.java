package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.KeptLease;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A lease as the cluster has it, with the heartbeats that keep it alive. It may serve one {@link
 * Lease} after another. Thread-safe.
 */
final class ClusterLease {
  private final long id;
  private final Duration ttl;
  private final String owner;
  private @Nullable KeptLease heartbeats;
  private @Nullable Runnable whenEnded;
  private boolean ended;

  /**
   * @param owner empty for the name of the application
   */
  ClusterLease(long id, Duration ttl, String owner) {
    this.id = id;
    this.ttl = requireNonNull(ttl, "ttl");
    this.owner = requireNonNull(owner, "owner");
  }

  synchronized void keptBy(KeptLease heartbeats) {
    this.heartbeats = requireNonNull(heartbeats, "heartbeats");
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

  synchronized KeptLease heartbeats() {
    return requireNonNull(heartbeats, "heartbeats");
  }

  /** Whom to tell once that the cluster has ended the lease; replaces the one before. */
  void whenEnded(Runnable told) {
    synchronized (this) {
      if (!ended) {
        whenEnded = told;
        return;
      }
    }
    told.run();
  }

  /** The cluster has ended the lease. */
  void ended() {
    Runnable told;
    synchronized (this) {
      ended = true;
      told = whenEnded;
      whenEnded = null;
    }
    if (told != null) {
      told.run();
    }
  }

  @Override
  public String toString() {
    return "lease " + id + " of '" + owner + "'";
  }
}
