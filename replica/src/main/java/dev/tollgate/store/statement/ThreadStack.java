package dev.tollgate.store.statement;

import org.jspecify.annotations.Nullable;

/** Where a thread is that the apply thread waits for. */
public final class ThreadStack extends Exception {
  private static final long serialVersionUID = 1L;

  private ThreadStack(Thread thread) {
    super("thread " + thread.getName() + " is here");
    setStackTrace(thread.getStackTrace());
  }

  /** Where a thread is, or null if it is not known which one. */
  public static @Nullable ThreadStack of(@Nullable Thread thread) {
    return thread == null ? null : new ThreadStack(thread);
  }
}
