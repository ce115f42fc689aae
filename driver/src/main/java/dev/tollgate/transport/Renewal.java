package dev.tollgate.transport;

import java.time.Duration;

/**
 * What heartbeats keep alive: a session with its own lease, or a lease that was created by a call.
 * Holds the proof that it is alive. Thread-safe.
 *
 * <p>Fail-closed: the proof ends one ttl, less a thousandth, after the last acknowledged heartbeat
 * was <em>sent</em>. It therefore ends before the cluster may expire the lease, however slow the
 * network was, and although the leader uses another clock.
 */
final class Renewal {
  enum Kind {
    SESSION,
    LEASE
  }

  /** Two clocks drift apart by less than one part in this many; crystals are ten times better. */
  private static final int DRIFT_PART = 1_000;

  private final Kind kind;
  private final long id;
  private final Duration ttl;
  private final long proofNanos;
  private final Runnable onLost;
  private long deadlineNanos;
  private boolean lost;
  private volatile boolean paused;

  /**
   * @param ttl of the lease, or the shortest ttl of everything that this heartbeat keeps alive
   * @param sentNanos when the request that created it was sent
   * @param onLost called once, by the thread that learns of the loss; must return quickly
   */
  Renewal(Kind kind, long id, Duration ttl, long sentNanos, Runnable onLost) {
    this.kind = kind;
    this.id = id;
    this.ttl = ttl;
    this.onLost = onLost;
    this.proofNanos = ttl.toNanos() - ttl.toNanos() / DRIFT_PART;
    this.deadlineNanos = sentNanos + proofNanos;
  }

  /** The renewal of a session with its own lease; a session with the shorter ttl ends the lease. */
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

  /** The longest interval between two heartbeats. */
  Duration interval() {
    return ttl.dividedBy(3);
  }

  /** Records that the leader acknowledged a heartbeat that was sent at this time. */
  synchronized void renewed(long sentNanos) {
    long deadline = sentNanos + proofNanos;
    if (deadline - deadlineNanos > 0) {
      deadlineNanos = deadline;
    }
    notifyAll();
  }

  /** Has no heartbeats sent for this one, until they are resumed. */
  void pause() {
    paused = true;
  }

  void resume() {
    paused = false;
  }

  /** False if no heartbeat is to be sent for this one. */
  boolean isRenewed() {
    return !paused && !isLost();
  }

  /** Records that the leader has reported the session or lease as ended. */
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

  /** Ends the renewal; a loss is no longer reported. */
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

  /** How long the proof lasts without another heartbeat; zero if there is no proof. */
  synchronized Duration remaining(long nowNanos) {
    return lost ? Duration.ZERO : Duration.ofNanos(Math.max(0, deadlineNanos - nowNanos));
  }

  /** Waits until a heartbeat sent after this time is acknowledged, or the lease is lost. */
  void awaitNews(long afterNanos, Duration longest) {
    PatientWait.until(System.nanoTime() + longest.toNanos(), nanos -> awaitNews(afterNanos, nanos));
  }

  private synchronized boolean awaitNews(long afterNanos, long longestNanos)
      throws InterruptedException {
    long end = System.nanoTime() + longestNanos;
    while (!lost && deadlineNanos - (afterNanos + proofNanos) < 0) {
      long leftMillis = (end - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        return false;
      }
      wait(leftMillis);
    }
    return true;
  }
}
