package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.SqlState;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a client that wait for locks on the threads of their callers, and the thread that
 * ends a wait whose caller has to leave. Thread-safe.
 */
final class WaitingRequests implements AutoCloseable {
  /** What may have to be ended early. */
  interface Wait {
    /**
     * Tries to end the wait if its caller has to leave by now; must not throw.
     *
     * @return time until it wants to be asked again, at least a nanosecond
     */
    Duration endIfDue(long nowNanos);
  }

  private final Semaphore room = new Semaphore(LockLimits.WAITING_REQUESTS);
  private final Set<Wait> waits = ConcurrentHashMap.newKeySet();
  private final ScheduledThreadPoolExecutor rounds;

  /** The next round, and when it is. It stays when its wait has ended: the next one is later. */
  private @Nullable ScheduledFuture<?> nextRound;

  private volatile long nextRoundNanos;
  private volatile boolean scheduled;

  WaitingRequests(ClientThreads threads) {
    rounds = new ScheduledThreadPoolExecutor(1, task -> threads.daemon(task, "-leaves"));
    rounds.setRemoveOnCancelPolicy(true);
    rounds.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  static LockException tooMany() {
    return new LockException(
        SqlState.TOO_MANY.state(),
        LockLimits.WAITING_REQUESTS
            + " requests of this client wait for locks already, each on a connection of its own"
            + " (LockLimits.WAITING_REQUESTS): ask with a shorter wait, or use another client");
  }

  /**
   * Begins a wait.
   *
   * @param longest when the wait is asked for the first time, unless {@link #hasten} is called
   * @throws LockException if as many requests wait as may
   */
  void begin(Wait wait, Duration longest) {
    requireNonNull(wait, "wait");
    if (!room.tryAcquire()) {
      throw tooMany();
    }
    waits.add(wait);
    scheduleWithin(longest);
  }

  void end(Wait wait) {
    if (waits.remove(wait)) {
      room.release();
    }
  }

  int count() {
    return waits.size();
  }

  /** Has all waits asked soon. Does not wait itself, so a thread that interrupts may call it. */
  void hasten() {
    scheduleWithin(Duration.ZERO);
  }

  private void scheduleWithin(Duration delay) {
    long due = System.nanoTime() + delay.toNanos();
    if (scheduled && nextRoundNanos - due <= 0) {
      return;
    }
    synchronized (this) {
      if (scheduled && nextRoundNanos - due <= 0) {
        return;
      }
      if (nextRound != null) {
        nextRound.cancel(false);
      }
      nextRoundNanos = due;
      scheduled = true;
      try {
        nextRound = rounds.schedule(this::round, delay.toNanos(), TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) {
        // the client is closed, and with it the connections of all waits
        nextRound = null;
      }
    }
  }

  private void round() {
    synchronized (this) {
      scheduled = false;
      nextRound = null;
    }
    for (Wait wait : waits) {
      scheduleWithin(wait.endIfDue(System.nanoTime()));
    }
  }

  /** Ends no wait: that follows when the client closes its connections. */
  @Override
  public void close() {
    rounds.shutdown();
  }
}
