package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One term of a leader. It ends for good: when its lock is lost, or its lease is about to be, when
 * the candidate resigns, and when {@link Candidate#elected} returns. Thread-safe.
 */
public final class Leadership {
  private final HeldLock lock;
  private final String candidate;
  private final ThreadInterrupt interrupt;
  private final ListenerLane interrupts;
  private final ListenerLanes listeners;
  private final CompletableFuture<String> ended = new CompletableFuture<>();
  private @Nullable ListenerLane lane;
  private boolean over;

  /**
   * @param thread on which the candidate leads
   * @param interrupts where that thread is interrupted
   */
  Leadership(
      HeldLock lock,
      String candidate,
      Thread thread,
      ListenerLane interrupts,
      ListenerLanes listeners) {
    this.lock = requireNonNull(lock, "lock");
    this.candidate = requireNonNull(candidate, "candidate");
    this.interrupt = new ThreadInterrupt(thread);
    this.interrupts = requireNonNull(interrupts, "interrupts");
    this.listeners = requireNonNull(listeners, "listeners");
  }

  /** The name of the election. */
  public String election() {
    return lock.name();
  }

  public String candidate() {
    return candidate;
  }

  /** The fencing token of the term: a later term of any candidate has a higher one. */
  public long token() {
    return lock.token();
  }

  /** The lock of the election, for {@link HeldLock#run}. */
  public HeldLock lock() {
    return lock;
  }

  /**
   * True while this process can prove that its lease is alive, and the cluster has not told it that
   * the lock is lost. An operator who takes the lock away has the next candidate elected a moment
   * before this process is told.
   */
  public boolean isLeader() {
    synchronized (this) {
      if (over) {
        return false;
      }
    }
    return lock.isHeld();
  }

  /**
   * Returns if {@link #isLeader}.
   *
   * @throws LockLostException if the term is over
   */
  public void assertLeader() {
    if (!isLeader()) {
      throw new LockLostException(
          "'" + candidate + "' no longer leads '" + election() + "' under token " + token());
    }
  }

  /** How long the term lasts if no further heartbeat succeeds. */
  public Duration remaining() {
    return isLeader() ? lock.lease().remaining() : Duration.ZERO;
  }

  /**
   * Completes with the reason when the term is over, on a thread of the client's listeners.
   *
   * @throws LockException if the client has {@link LockLimits#LISTENER_LANES} listeners elsewhere
   */
  public CompletionStage<String> ended() {
    synchronized (this) {
      if (!over && lane == null) {
        lane = listeners.open("a listener for the end of " + this);
      }
    }
    return ended.minimalCompletionStage();
  }

  /**
   * Ends the term and has the thread that leads interrupted, unless that has returned. Is quick.
   */
  void end(String reason) {
    synchronized (this) {
      if (over) {
        return;
      }
      over = true;
      if (lane == null) {
        // nobody has asked for the end, so nothing foreign runs here
        ended.complete(reason);
      } else {
        ended.completeAsync(() -> reason, lane);
        lane.end();
      }
    }
    interrupt.fireOn(interrupts);
  }

  /**
   * The candidate has returned: its thread is not interrupted any more. Waits for an interrupt that
   * is under way.
   *
   * @param how or why it has failed
   */
  void returned(String how) {
    interrupt.end();
    end(how);
  }

  @Override
  public String toString() {
    return "'" + candidate + "' leads '" + election() + "' under token " + token();
  }
}
