package dev.tollgate.lock;

import java.time.Duration;
import java.util.concurrent.locks.Lock;

/**
 * A lock of the cluster behind the interface of the JDK. It belongs to the thread that has locked
 * it, is re-entrant, and has no conditions. All views of a name on one client are the same lock.
 *
 * <p>A thread that locks once more has the lock for the longer one of both terms: a fixed term is
 * extended, and a lock with a fixed term is renewed by heartbeats once it is locked without one.
 * {@link #held} may have a higher token then. The lock keeps its owner, and its ttl if heartbeats
 * renew it.
 *
 * <p>The threads of a client take turns, so it has one holder at a time, also of a lock with
 * several permits. A turn ends with its lock: if the lock is lost, or its term is over, the next
 * thread of the client can lock, whether or not the former one has unlocked or lives.
 *
 * <p>An interrupt does not end {@link #lock}. It moves the request of the client to the end of the
 * queue of the cluster.
 *
 * <p>The methods of {@link Lock} throw {@link LockException} if the cluster does not answer, and
 * {@link LockLostException} if the thread had the lock and has lost it, and {@link
 * IllegalStateException} if the client is closed. {@link #unlock} then ends the hold all the same.
 */
public interface FencedLock extends Lock {
  /**
   * What this thread holds, with the token to write under.
   *
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   */
  HeldLock held();

  /**
   * True if this thread has the lock by this view, and this process can prove it, as {@link
   * HeldLock#isHeld}. Asks no node.
   */
  boolean isHeldByCurrentThread();

  /**
   * How often this thread has locked this view and not unlocked it. A lock that is lost counts
   * until it is unlocked.
   */
  int holdCount();

  /**
   * Extends what this thread holds, as {@link HeldLock#extend}: {@link #held} may have a higher
   * token afterwards.
   *
   * @throws IllegalMonitorStateException if this thread does not hold the lock, or has lost it
   * @throws LockException if the cluster does not answer
   */
  void extend(Duration term);
}
