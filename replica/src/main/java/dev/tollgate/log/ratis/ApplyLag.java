package dev.tollgate.log.ratis;

import dev.tollgate.log.LogStatus;

/**
 * How far applying lags behind what this node knows to be committed, in entries and in time. A few
 * entries may hold as much work as a thousand others. Times are those of {@link System#nanoTime}.
 * Thread-safe.
 */
final class ApplyLag {
  private final long longestNanos;
  private final long leaderlessNanos;
  private long markedIndex = -1;
  private long markedNanos;

  /** Whether this node has not caught up since it last heard a leader, and since when. */
  private boolean lacking;

  private long lackingNanos;

  /**
   * @param longestNanos for how long a node that has caught up may lack a committed entry
   * @param leaderlessNanos for how long the entries that it lacks count without a leader
   */
  ApplyLag(long longestNanos, long leaderlessNanos) {
    this.longestNanos = longestNanos;
    this.leaderlessNanos = leaderlessNanos;
  }

  /** Notes what was committed; to be called often, by every message of a leader. */
  synchronized void note(long committedIndex, long appliedIndex, long nowNanos) {
    lacking = false;
    if (appliedIndex >= markedIndex) {
      markedIndex = committedIndex;
      markedNanos = nowNanos;
    }
  }

  /**
   * True if the node could serve soon after it was elected, or no other node was elected for long;
   * to be called before each candidacy.
   */
  synchronized boolean hasCaughtUp(long committedIndex, long appliedIndex, long nowNanos) {
    if (committedIndex - appliedIndex <= LogStatus.CAUGHT_UP_ENTRIES
        && (appliedIndex >= markedIndex || nowNanos - markedNanos <= longestNanos)) {
      lacking = false;
      return true;
    }
    if (!lacking) {
      lacking = true;
      lackingNanos = nowNanos;
    }
    return nowNanos - lackingNanos > leaderlessNanos;
  }
}
