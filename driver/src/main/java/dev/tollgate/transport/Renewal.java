package dev.tollgate.transport;

import java.time.Duration;

/**
 * What heartbeats keep alive, and the proof of it: a session with its own lease, or a lease that
 * was created by a call. Thread-safe.
 *
 * <p>Fail-closed: the proof ends a thousandth less than one ttl after the last acknowledged
 * heartbeat was <em>sent</em>, so it ends before the cluster may end the lease, however slow the
 * network was, and though the leader counts on another clock.
 */
final class Renewal {
  enum Kind {
    SESSION,
    LEASE
  }

  /** Two clocks go apart by less than this part of a time: crystals are ten times better. */
  private static final int DRIFT_PART = 1_000;

  private final Kind kind;
  private final long id;
  private final Duration ttl;
  private final long proofNanos;
  private final Runnable onLost;
  private long deadlineNanos;
  private boolean lost;

  /**
   * @param ttl of the lease, or the shortest of everything that this heartbeat keeps alive
   * @param sentNanos when the request was sent that created it
   * @param onLost called once, by the thread that hears of the loss; has to be quick
   */
  Renewal(Kind kind, long id, Duration ttl, long sentNanos, Runnable onLost) {
    this.kind = kind;
    this.id = id;
    this.ttl = ttl;
    this.onLost = onLost;
    this.proofNanos = ttl.toNanos() - ttl.toNanos() / DRIFT_PART;
    this.deadlineNanos = sentNanos + proofNanos;
  }

  /** Of a session with its own lease: the lease ends with the session, if that has less time. */
  static Renewal ofSession(long id, Duration session, Duration lease, long sentNanos) {
    Duration shortest = lease.compareTo(session) < 0 ? lease : session;
    return new Renewal(Kind.SESSION, id, shortest, sentNanos, () -> {});
  }

  Kind kind() {
    return kind;
  }

  long id() {
    return id;
  }

  /** How often this wants to be renewed, at the least. */
  Duration interval() {
    return ttl.dividedBy(3);
  }

  /** The leader has acknowledged a heartbeat that was sent at this moment. */
  synchronized void renewed(long sentNanos) {
    long deadline = sentNanos + proofNanos;
    if (deadline - deadlineNanos > 0) {
      deadlineNanos = deadline;
    }
    notifyAll();
  }

  /** The leader has said that it ended. */
  void lose() {
    synchronized (this) {
      if (lost) {
        return;
      }
      lost = true;
      notifyAll();
    }
    onLost.run();
  }

  /** Nobody is interested any more: a loss is not told. */
  synchronized void retire() {
    lost = true;
    notifyAll();
  }

  synchronized boolean isLost() {
    return lost;
  }

  /** True if it is certain that the lease is alive at this moment. */
  synchronized boolean isProven(long nowNanos) {
    return !lost && deadlineNanos - nowNanos > 0;
  }

  /** How long that stays certain without another heartbeat; zero if it is not. */
  synchronized Duration remaining(long nowNanos) {
    return lost ? Duration.ZERO : Duration.ofNanos(Math.max(0, deadlineNanos - nowNanos));
  }

  /** Waits until a heartbeat that was sent after this moment is acknowledged, or all is lost. */
  synchronized void awaitNews(long afterNanos, Duration longest) {
    long end = System.nanoTime() + longest.toNanos();
    try {
      while (!lost && deadlineNanos - (afterNanos + proofNanos) < 0) {
        long leftMillis = (end - System.nanoTime()) / 1_000_000;
        if (leftMillis <= 0) {
          return;
        }
        wait(leftMillis);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
