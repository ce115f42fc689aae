package dev.tollgate.shedlock;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A scheduler of one task, which runs when a test says so. */
final class HandScheduler extends ScheduledThreadPoolExecutor {
  private Runnable task;
  private boolean cancelled;

  HandScheduler() {
    super(0);
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(
      Runnable command, long initialDelay, long period, TimeUnit unit) {
    task = command;
    return new Handle();
  }

  void runTask() {
    requireNonNull(task, "task").run();
  }

  boolean isCancelled() {
    return cancelled;
  }

  private final class Handle implements ScheduledFuture<Object> {
    @Override
    public boolean cancel(boolean interrupt) {
      cancelled = true;
      return true;
    }

    @Override
    public boolean isCancelled() {
      return cancelled;
    }

    @Override
    public boolean isDone() {
      return cancelled;
    }

    @Override
    public Object get() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Object get(long timeout, TimeUnit unit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return 0;
    }

    @Override
    public int compareTo(Delayed other) {
      return 0;
    }
  }
}
