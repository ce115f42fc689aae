package dev.tollgate.log;

import dev.tollgate.core.command.Limits;
import dev.tollgate.h2.MeteredThread;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A thread on which a node applies its log or restores a snapshot. How deep it may recurse must not
 * depend on a setting of the process. So every replica has the same stack, and the limits of
 * statements end a recursion long before this stack does.
 */
public final class ApplyThread implements Executor, AutoCloseable {
  private final ExecutorService executor;
  private volatile @Nullable Thread thread;

  public ApplyThread(String nodeId) {
    executor =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread started = deep(null, task, "tollgate-apply-" + nodeId);
              thread = started;
              return started;
            });
  }

  /** Returns a daemon thread with that stack, not started yet. */
  public static Thread deep(@Nullable ThreadGroup group, Runnable work, String name) {
    return deep(group, work, name, Limits.APPLY_STACK_BYTES);
  }

  /** Returns a daemon thread with a stack of this size, not started yet. */
  public static Thread deep(
      @Nullable ThreadGroup group, Runnable work, String name, long stackBytes) {
    Thread thread = new MeteredThread(group, work, name, stackBytes);
    thread.setDaemon(true);
    return thread;
  }

  /** Runs this work after all work that came before. */
  @Override
  public void execute(Runnable work) {
    executor.execute(work);
  }

  /**
   * Runs this work after all work that came before, and waits for it, even if the waiting thread is
   * interrupted. An entry is applied or the replica has failed; there is nothing in between.
   *
   * @throws Exception what the work has thrown
   */
  public <T extends @Nullable Object> T call(Callable<T> work) throws Exception {
    CompletableFuture<T> done = new CompletableFuture<>();
    executor.execute(
        () -> {
          try {
            done.complete(work.call());
          } catch (Throwable e) {
            done.completeExceptionally(e);
          }
        });
    try {
      return done.join();
    } catch (CompletionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof Error error) {
        throw error;
      }
      throw cause instanceof Exception exception ? exception : e;
    }
  }

  /** Ends the thread once it has done its work, and waits for that. */
  @Override
  public void close() {
    executor.shutdown();
    boolean interrupted = false;
    try {
      while (Thread.currentThread() != thread && !executor.isTerminated()) {
        try {
          executor.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
