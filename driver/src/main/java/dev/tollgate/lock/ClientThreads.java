package dev.tollgate.lock;

import dev.tollgate.transport.DaemonThreads;
import dev.tollgate.transport.PatientWait;
import java.lang.System.Logger;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of a client, all daemons: one for each connection that is being opened for a waiting
 * request, one for each request whose caller does not wait, those of {@link ListenerLanes}, a few
 * for cleaning up, and one that watches deadlines. Threads that are idle end. Thread-safe.
 */
final class ClientThreads implements AutoCloseable {
  private static final Logger LOG = LockLog.LOG;
  private static final int IDLE_SECONDS = 10;
  private static final int CLOSE_SECONDS = 2;
  private static final int MAX_CHORES = 1_000;
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final String prefix = "tollgate-lock-" + NUMBERS.incrementAndGet();
  private final ThreadPoolExecutor connecting =
      new ThreadPoolExecutor(
          0,
          LockLimits.WAITING_REQUESTS,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> daemon(task, "-connects"));

  private final ThreadPoolExecutor waiting =
      new ThreadPoolExecutor(
          0,
          LockLimits.WAITING_REQUESTS,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> daemon(task, "-waits"));

  private final ThreadPoolExecutor chores = pool(LockLimits.CHORE_THREADS, MAX_CHORES, "-chores");
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, task -> daemon(task, "-deadlines"));
  private final ListenerLanes listeners =
      new ListenerLanes(task -> daemon(task, "-listener"), Duration.ofSeconds(IDLE_SECONDS), timer);

  ClientThreads() {
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  private ThreadPoolExecutor pool(int threads, int queue, String suffix) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(queue),
            task -> daemon(task, suffix));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  Thread daemon(Runnable task, String suffix) {
    return DaemonThreads.serving(task, prefix + suffix);
  }

  /**
   * Opens a connection for a request that will wait for a lock, because its caller has to be able
   * to leave meanwhile.
   *
   * @throws LockException if as many connections are being opened as may be
   */
  void runConnecting(Runnable opening) {
    runOrRefuse(connecting, opening);
  }

  /**
   * Waits for a lock in the place of a caller that does not wait.
   *
   * @throws LockException if as many threads wait as may
   */
  void runWaiting(Runnable request) {
    runOrRefuse(waiting, request);
  }

  /** On a thread of the client, with the class loader of its caller. */
  private static void runOrRefuse(ThreadPoolExecutor pool, Runnable task) {
    CallerLoader loader = new CallerLoader();
    try {
      pool.execute(() -> loader.run(task));
    } catch (RejectedExecutionException e) {
      if (pool.isShutdown()) {
        throw new IllegalStateException("the lock client is closed", e);
      }
      throw WaitingRequests.tooMany();
    }
  }

  /** Where listeners are called, so that a slow one delays no heartbeat and no other listener. */
  ListenerLanes listeners() {
    return listeners;
  }

  /** Runs a task in the background; returns false if there are too many, or the client closes. */
  boolean runChore(Runnable chore) {
    try {
      chores.execute(chore);
      return true;
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // there are too many, or no thread can be started
      return false;
    }
  }

  /**
   * Runs a short task after a delay, unless the client is closed before.
   *
   * @return to cancel it
   */
  Future<?> runLater(Duration delay, Runnable task) {
    try {
      return timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // the client is closed, and with it its leases
      return CompletableFuture.completedFuture(null);
    }
  }

  /**
   * Takes nothing new, lets listeners finish, and waits a moment for chores, also in a thread that
   * was interrupted.
   */
  @Override
  public void close() {
    timer.shutdown();
    listeners.close();
    chores.shutdown();
    connecting.shutdown();
    waiting.shutdown();
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
    if (!PatientWait.until(
        deadlineNanos, nanos -> chores.awaitTermination(nanos, TimeUnit.NANOSECONDS))) {
      LOG.log(Logger.Level.DEBUG, "{0}: leases end when their time is over", prefix);
    }
  }
}
