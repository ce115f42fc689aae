package dev.tollgate.lock;

import dev.tollgate.wire.SqlState;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The lanes of a client's listeners, and their threads: a few while listeners return, and one for
 * each lane if they do not. So no listener waits for another one for longer than {@link #PATIENCE}.
 * Thread-safe.
 */
final class ListenerLanes implements AutoCloseable {
  /** How long until it is tried again to start a thread, after the system has refused one. */
  private static final Duration RETRY = Duration.ofMillis(500);

  /** How long a lane waits for one of the few threads before it gets a thread of its own. */
  static final Duration PATIENCE = Duration.ofMillis(20);

  private final ThreadPoolExecutor threads;
  private final ScheduledExecutorService timer;
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicBoolean watching = new AtomicBoolean();
  private final AtomicBoolean timerStarted = new AtomicBoolean();

  /**
   * @param timer runs tasks that are short
   */
  ListenerLanes(ThreadFactory factory, Duration idle, ScheduledExecutorService timer) {
    this.timer = timer;
    // a lane stands in the queue once
    this.threads =
        new ThreadPoolExecutor(
            LockLimits.LISTENER_THREADS,
            LockLimits.LISTENER_LANES,
            idle.toNanos(),
            TimeUnit.NANOSECONDS,
            new LinkedBlockingQueue<>(LockLimits.LISTENER_LANES),
            factory);
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Opens a lane, which has to be ended.
   *
   * @param whose for messages, as in "a listener for the loss of lease 7"
   * @throws LockException if the client has {@link LockLimits#LISTENER_LANES} already
   */
  ListenerLane open(String whose) {
    startTimer();
    if (open.incrementAndGet() > LockLimits.LISTENER_LANES) {
      open.decrementAndGet();
      throw new LockException(
          SqlState.TOO_MANY.state(),
          whose
              + " is not added: "
              + LockLimits.LISTENER_LANES
              + " leases, locks, elections and observers of this client have listeners"
              + " (LockLimits.LISTENER_LANES). Close those that are not needed, or use another"
              + " client");
    }
    return new ListenerLane(this, whose);
  }

  /** On a thread of the application: that which has news may not be able to start one. */
  private void startTimer() {
    if (timerStarted.compareAndSet(false, true)) {
      try {
        timer.execute(() -> {});
      } catch (RejectedExecutionException e) {
        // closed: there is nothing to be told
      }
    }
  }

  void leave() {
    open.decrementAndGet();
  }

  /** Runs the calls of a lane, unless the client is closed: there is nothing to be told then. */
  void run(Runnable calls) {
    try {
      threads.execute(calls);
    } catch (RejectedExecutionException e) {
      // closed
      return;
    } catch (OutOfMemoryError e) {
      // no thread can be started: the calls wait for one
      if (!threads.getQueue().contains(calls)) {
        threads.getQueue().add(calls);
      }
    }
    watch(PATIENCE);
  }

  private void watch(Duration patience) {
    if (!threads.getQueue().isEmpty() && watching.compareAndSet(false, true)) {
      var unused = timer.schedule(this::look, patience.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  private void look() {
    watching.set(false);
    Duration patience = PATIENCE;
    try {
      startThreads();
    } catch (OutOfMemoryError e) {
      patience = RETRY;
    }
    watch(patience);
  }

  /** Starts a thread for each lane that still waits. A thread without work ends after a while. */
  private synchronized void startThreads() {
    int waiting = threads.getQueue().size();
    if (waiting > 0) {
      // to raise the number starts threads, and to lower it ends none that works
      threads.setCorePoolSize(Math.min(LockLimits.LISTENER_LANES, threads.getPoolSize() + waiting));
      threads.setCorePoolSize(LockLimits.LISTENER_THREADS);
    }
  }

  /** Takes nothing new, and lets listeners finish. */
  @Override
  public void close() {
    startThreads();
    threads.shutdown();
  }
}
