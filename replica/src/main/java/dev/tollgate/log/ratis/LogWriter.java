package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.constructor;
import static dev.tollgate.log.ratis.RatisInternals.field;
import static dev.tollgate.log.ratis.RatisInternals.method;
import static java.util.Objects.requireNonNull;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.segmented.SegmentedRaftLog;
import org.apache.ratis.util.DataBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * The thread of Ratis that writes the log (SegmentedRaftLogWorker of Ratis 3.3.0). Ratis offers no
 * way to learn that the thread has ended or has nothing left to do, and none to wake the thread. So
 * this class reaches into the writer and queues work that does nothing. Thread-safe.
 *
 * <p>The writer waits for work for up to a second before it checks whether it has to end. Closing
 * the server waits for the writer, which is why this class wakes the thread.
 */
final class LogWriter {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Object worker;
  private final Executor thread;
  private final Field running;
  private final DataBlockingQueue<?> queue;
  private final Field segment;
  private final Method purge;
  private final Method future;
  private final Object noSegments;

  private LogWriter(
      Object worker,
      Executor thread,
      Field running,
      DataBlockingQueue<?> queue,
      Field segment,
      Method purge,
      Method future,
      Object noSegments) {
    this.worker = requireNonNull(worker, "worker");
    this.thread = requireNonNull(thread, "thread");
    this.running = requireNonNull(running, "running");
    this.queue = requireNonNull(queue, "queue");
    this.segment = requireNonNull(segment, "segment");
    this.purge = requireNonNull(purge, "purge");
    this.future = requireNonNull(future, "future");
    this.noSegments = requireNonNull(noSegments, "noSegments");
  }

  /**
   * Returns the writer of an open log.
   *
   * @throws ReflectiveOperationException if this Ratis is not the version that this class was
   *     written for
   */
  static LogWriter of(RaftLog log) throws ReflectiveOperationException {
    Object worker = field(SegmentedRaftLog.class, "fileLogWorker").get(log);
    Class<?> segments =
        Class.forName(
            SegmentedRaftLog.class.getPackageName() + ".SegmentedRaftLogCache$TruncationSegments");
    Method purge = method(worker.getClass(), "purge", segments);
    return new LogWriter(
        worker,
        (Executor) field(worker.getClass(), "workerThreadExecutor").get(worker),
        field(worker.getClass(), "running"),
        (DataBlockingQueue<?>) field(worker.getClass(), "queue").get(worker),
        field(worker.getClass(), "out"),
        purge,
        method(purge.getReturnType(), "getFuture"),
        constructor(segments).newInstance("the server closes", null, List.of()));
  }

  /** Returns the open segment: another object after a segment was begun, closed or cut. */
  @Nullable Object segment() {
    try {
      return segment.get(worker);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("the log writer cannot be asked", e);
    }
  }

  /** Runs a task if an error ends the writer: Ratis neither logs that nor asks for it. */
  void ifItEndsUntold(Runnable task) {
    // waits in the queue of the only thread until the writer has ended
    thread.execute(
        () -> {
          if (isToBeRunning()) {
            task.run();
          }
        });
  }

  private boolean isToBeRunning() {
    try {
      return running.getBoolean(worker);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("the log writer cannot be asked", e);
    }
  }

  /** Completes once the writer has done all the work that it was given before. */
  CompletableFuture<?> drained() {
    try {
      return (CompletableFuture<?>) future.invoke(purge.invoke(worker, noSegments));
    } catch (ReflectiveOperationException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Waits until Ratis has told the writer to end, then wakes the writer.
   *
   * @param closed whether there is nothing left to wait for
   */
  void wakeWhenTold(BooleanSupplier closed) {
    try {
      while (running.getBoolean(worker)) {
        if (closed.getAsBoolean()) {
          return;
        }
        LockSupport.parkNanos(POLL_NANOS);
      }
      // a writer with work needs no waking, and a full queue would block this thread
      if (queue.getNumElements() == 0) {
        purge.invoke(worker, noSegments);
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the log writer cannot be woken", e);
    }
  }
}
