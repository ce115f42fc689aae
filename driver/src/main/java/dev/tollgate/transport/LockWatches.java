package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The locks of this process of whose loss the leader tells the control connection. On each new
 * connection all of them are named once, and so is the first lock of a lease: the leader then tells
 * of each loss that comes, and answers with those that came before. At most one such request is
 * under way; further locks wait for the next one. Thread-safe.
 *
 * <p>Leases are held by weak references, as {@link ControlLink} holds what it keeps alive.
 */
final class LockWatches {
  private record Asked(long requestId, List<LockWatch> watches) {}

  private final Timekeeping environment;
  private final Map<Long, WeakReference<WatchedLocks>> leases = new ConcurrentHashMap<>();

  /** Locks that the node has to be asked for: no more than are watched. */
  private final Set<LockWatch> unknown = new LinkedHashSet<>();

  private @Nullable NodeConnection connection;
  private @Nullable Asked underWay;

  LockWatches(Timekeeping environment) {
    this.environment = requireNonNull(environment, "environment");
  }

  /**
   * Begins to watch a lock.
   *
   * @param requestedNanos a moment before the lock was requested
   */
  void add(WatchedLocks lease, LockWatch watch, long requestedNanos) {
    leases.computeIfAbsent(lease.lease(), id -> new WeakReference<>(lease));
    WatchedLocks.Added added;
    synchronized (this) {
      added = lease.add(watch, connection, requestedNanos);
      if (added == WatchedLocks.Added.UNKNOWN && connection != null) {
        unknown.add(watch);
      }
    }
    if (added == WatchedLocks.Added.LOST) {
      watch.lost();
    }
  }

  /** The process does not want to know of a lock any more. */
  synchronized void forget(LockWatch watch) {
    unknown.remove(watch);
  }

  /** The lease is not kept alive any more. */
  void forget(WatchedLocks lease) {
    leases.remove(lease.lease());
  }

  /** Forgets leases that were dropped without being closed. */
  void forgetUnreachable() {
    leases.values().removeIf(lease -> lease.refersTo(null));
  }

  /** From now on this connection is asked, for all locks at first. */
  synchronized void begin(NodeConnection next) {
    connection = next.version() < Protocol.LOCK_WATCH_VERSION ? null : next;
    underWay = null;
    unknown.clear();
    for (WeakReference<WatchedLocks> reference : leases.values()) {
      WatchedLocks lease = reference.get();
      if (lease != null) {
        unknown.addAll(lease.all());
      }
    }
  }

  /**
   * The next request, which has to be sent under this number. Null if one is under way, if there is
   * nothing to ask, or if another connection is asked.
   */
  synchronized Request.@Nullable WatchLocks next(NodeConnection on, long requestId) {
    if (on != connection || underWay != null) {
      return null;
    }
    List<LockWatch> asked = new ArrayList<>();
    var each = unknown.iterator();
    while (each.hasNext() && asked.size() < Protocol.MAX_WATCHED_LOCKS) {
      LockWatch watch = each.next();
      each.remove();
      if (watch.locks().isWatched(watch)) {
        asked.add(watch);
      }
    }
    if (asked.isEmpty()) {
      return null;
    }
    underWay = new Asked(requestId, asked);
    return new Request.WatchLocks(
        asked.stream().map(watch -> watch.locks().lease()).toList(),
        asked.stream().map(LockWatch::token).toList());
  }

  /** The node has answered the request, or tells of losses. */
  void lost(long requestId, Reply.LocksLost lost) {
    synchronized (this) {
      Asked asked = underWay;
      NodeConnection on = connection;
      if (on != null && asked != null && asked.requestId == requestId) {
        underWay = null;
        long now = environment.nanos();
        asked.watches.forEach(watch -> watch.locks().watchedOn(on, now));
      }
    }
    for (int i = 0; i < lost.tokens().size(); i++) {
      WatchedLocks lease = find(lost.leases().get(i));
      LockWatch watch = lease == null ? null : lease.takeLost(lost.tokens().get(i));
      if (watch != null) {
        watch.lost();
      }
    }
  }

  /** These leases have ended, and their locks with them. */
  void leasesLost(List<Long> lost) {
    for (long id : lost) {
      WatchedLocks lease = find(id);
      if (lease != null) {
        lease.takeAll().forEach(LockWatch::lost);
      }
    }
  }

  /** All leases have ended, also those without heartbeats. */
  void allLost() {
    leasesLost(List.copyOf(leases.keySet()));
  }

  /** The node has no room for the request: its locks are asked for again later. */
  synchronized void failed(long requestId) {
    Asked asked = underWay;
    if (asked != null && asked.requestId == requestId) {
      underWay = null;
      unknown.addAll(asked.watches);
    }
  }

  private @Nullable WatchedLocks find(long lease) {
    WeakReference<WatchedLocks> reference = leases.get(lease);
    return reference == null ? null : reference.get();
  }
}
