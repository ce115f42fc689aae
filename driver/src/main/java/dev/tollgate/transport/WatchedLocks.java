package dev.tollgate.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What this process holds under one lease, as far as it wants to know of losses. Thread-safe.
 *
 * <p>The node may tell of a loss before the grant has reached this process by another connection.
 * So the last losses of locks that are not watched are remembered, among them those that this
 * process has released itself.
 */
final class WatchedLocks {
  /** Losses of locks that are not watched; a lock below the highest forgotten one is asked for. */
  static final int REMEMBERED = 16;

  private final long lease;
  private final Map<Long, LockWatch> watches = new HashMap<>();
  private final Deque<Long> remembered = new ArrayDeque<>();
  private long highestForgotten;
  private @Nullable Object watchedOn;
  private long watchedSinceNanos;

  WatchedLocks(long lease) {
    this.lease = lease;
  }

  long lease() {
    return lease;
  }

  /** What to do about a watch that was added. */
  enum Added {
    /** The node would have told of a loss, or will. */
    WATCHED,
    /** The node has to be asked. */
    UNKNOWN,
    LOST
  }

  /**
   * @param connection on which the node is asked and answers now, or null
   * @param requestedNanos a moment before the node granted the lock
   */
  synchronized Added add(LockWatch watch, @Nullable Object connection, long requestedNanos) {
    if (remembered.remove(watch.token())) {
      return Added.LOST;
    }
    watches.put(watch.token(), watch);
    boolean watched =
        watchedOn != null && watchedOn == connection && watchedSinceNanos - requestedNanos <= 0;
    return watched && watch.token() > highestForgotten ? Added.WATCHED : Added.UNKNOWN;
  }

  synchronized void forget(LockWatch watch) {
    watches.remove(watch.token(), watch);
  }

  /** The node has said that it tells of losses on this connection. */
  synchronized void watchedOn(Object connection, long nowNanos) {
    if (watchedOn != connection) {
      watchedOn = connection;
      watchedSinceNanos = nowNanos;
    }
  }

  synchronized List<LockWatch> all() {
    return new ArrayList<>(watches.values());
  }

  synchronized boolean isWatched(LockWatch watch) {
    return watches.get(watch.token()) == watch;
  }

  /** Takes out the lock that is lost; null if it is not watched. */
  synchronized @Nullable LockWatch takeLost(long token) {
    LockWatch watch = watches.remove(token);
    if (watch == null) {
      remembered.addLast(token);
      if (remembered.size() > REMEMBERED) {
        highestForgotten = Math.max(highestForgotten, remembered.removeFirst());
      }
    }
    return watch;
  }

  /** Takes out all locks: their lease is gone. */
  synchronized List<LockWatch> takeAll() {
    List<LockWatch> all = all();
    watches.clear();
    return all;
  }
}
