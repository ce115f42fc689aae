package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.PatientWait;
import dev.tollgate.wire.SqlState;
import java.lang.System.Logger;
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
    /** Has the wait ended soon, and calls {@link #hasten}; does not wait itself. */
    void leave();

    /**
     * Tries to end the wait if its caller has to leave by now.
     *
     * @return time until it wants to be asked again, at least a nanosecond
     */
    Duration endIfDue(long nowNanos);
  }

  private static final Logger LOG = LockLog.LOG;

  /** How long closing waits: a wait is canceled at once, and aborted after 2 s. */
  static final Duration FAREWELL = Duration.ofSeconds(3);

  private static final Duration AFTER_FAILURE = Duration.ofMillis(50);

  private final Semaphore room = new Semaphore(LockLimits.WAITING_REQUESTS);
  private final Set<Wait> waits = ConcurrentHashMap.newKeySet();
  private final ScheduledThreadPoolExecutor rounds;

  /** The next round, and when it is. It stays when its wait has ended: the next one is later. */
  private @Nullable ScheduledFuture<?> nextRound;

  private volatile long nextRoundNanos;
  private volatile boolean scheduled;
  private volatile boolean closed;

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
    if (closed) {
      end(wait);
      throw new IllegalStateException("the lock client is closed");
    }
    scheduleWithin(longest);
  }

  void end(Wait wait) {
    if (waits.remove(wait)) {
      room.release();
      stopIfOver();
    }
  }

  private void stopIfOver() {
    if (closed && waits.isEmpty()) {
      rounds.shutdown();
      synchronized (this) {
        notifyAll();
      }
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
        // the client is closed, and the last wait has ended
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
      scheduleWithin(end(wait, System.nanoTime()));
    }
  }

  /**
   * What ends one wait may fail, for want of memory for example, and keeps no other from ending.
   */
  private static Duration end(Wait wait, long nowNanos) {
    try {
      return wait.endIfDue(nowNanos);
    } catch (RuntimeException | Error e) {
      LOG.log(Logger.Level.WARNING, "a wait for a lock was not ended; it is tried again", e);
      return AFTER_FAILURE;
    }
  }

  /**
   * Ends all waits, of which none begins any more. Returns when they have ended, or after {@link
   * #FAREWELL}: a wait that goes on can be interrupted, and its connection is aborted again and
   * again.
   */
  @Override
  public void close() {
    closed = true;
    waits.forEach(Wait::leave);
    long deadlineNanos = System.nanoTime() + FAREWELL.toNanos();
    if (!PatientWait.until(deadlineNanos, this::awaitNone)) {
      LOG.log(Logger.Level.DEBUG, "{0} waits for locks go on after the client", waits.size());
    }
    stopIfOver();
  }

  private synchronized boolean awaitNone(long nanos) throws InterruptedException {
    long endNanos = System.nanoTime() + nanos;
    long left = nanos;
    while (!waits.isEmpty() && left > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = endNanos - System.nanoTime();
    }
    return waits.isEmpty();
  }
}
