package dev.tollgate.lock;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Leases without locks, kept alive for the next locks: a lock that is granted under one of them
 * costs one round trip instead of two. Thread-safe.
 */
final class SpareLeases {
  private final Deque<ClusterLease> spares = new ArrayDeque<>();
  private boolean closed;

  /** A lease with most of its time left, or null. */
  synchronized @Nullable ClusterLease take(Duration ttl, String owner, Duration margin) {
    for (Iterator<ClusterLease> each = spares.iterator(); each.hasNext(); ) {
      ClusterLease spare = each.next();
      if (spare.ttl().equals(ttl) && spare.owner().equals(owner) && spare.margin().equals(margin)) {
        each.remove();
        if (spare.remaining().compareTo(ttl.dividedBy(2)) >= 0) {
          return spare;
        }
        spare.close();
      }
    }
    return null;
  }

  /** Keeps a lease that holds nothing. Returns the lease that has to end instead, or null. */
  synchronized @Nullable ClusterLease keep(ClusterLease lease) {
    if (closed) {
      return lease;
    }
    spares.addFirst(lease);
    lease.whenEnded(because -> forget(lease));
    return spares.size() > LockLimits.SPARE_LEASES ? spares.pollLast() : null;
  }

  private synchronized void forget(ClusterLease lease) {
    if (spares.remove(lease)) {
      lease.close();
    }
  }

  /** Keeps none any more; returns those that have to end. */
  synchronized List<ClusterLease> close() {
    closed = true;
    List<ClusterLease> all = List.copyOf(spares);
    spares.clear();
    return all;
  }
}
