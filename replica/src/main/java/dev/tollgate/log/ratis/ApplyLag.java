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

  /** Whether a node that may be elected lacks entries that this node has. */
  private boolean needed;

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
    needed = false;
    if (appliedIndex >= markedIndex) {
      markedIndex = committedIndex;
      markedNanos = nowNanos;
    }
  }

  /**
   * Notes that a node has asked for a vote that lacks entries of this node's log. That node is not
   * elected without this one, and gets the entries once this one leads.
   */
  synchronized void needed() {
    needed = true;
  }

  /**
   * True if the node could serve soon after it was elected, if another node cannot be elected
   * before it, or if none was for long; to be called before each candidacy.
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
    return needed || nowNanos - lackingNanos > leaderlessNanos;
  }
}
