package dev.tollgate.log.ratis;

import dev.tollgate.log.LogStatus;

/**
 * How far applying lags behind what this node knows to be committed, in entries and in time. A few
 * entries may hold as much work as a thousand others. Times are those of {@link System#nanoTime}.
 * Thread-safe.
 */
final class ApplyLag {
  private final long longestNanos;
  private long markedIndex = -1;
  private long markedNanos;

  /**
   * @param longestNanos for how long a node that has caught up may lack a committed entry
   */
  ApplyLag(long longestNanos) {
    this.longestNanos = longestNanos;
  }

  /** Notes what was committed; to be called often, by every message of a leader. */
  synchronized void note(long committedIndex, long appliedIndex, long nowNanos) {
    if (appliedIndex >= markedIndex) {
      markedIndex = committedIndex;
      markedNanos = nowNanos;
    }
  }

  /** True if the node could serve soon after it was elected. */
  synchronized boolean hasCaughtUp(long committedIndex, long appliedIndex, long nowNanos) {
    return committedIndex - appliedIndex <= LogStatus.CAUGHT_UP_ENTRIES
        && (appliedIndex >= markedIndex || nowNanos - markedNanos <= longestNanos);
  }
}
