package dev.tollgate.core;

import org.jspecify.annotations.Nullable;

/**
 * The apply thread has waited too long for another thread of its process. An error, because nothing
 * that refuses statements may take it for a refusal, and nothing that skips commands for a fault of
 * the command: a process that was started again has no such thread.
 */
public final class StalledError extends Error {
  private static final long serialVersionUID = 1L;

  /**
   * @param what the apply thread waited for
   * @param where what does not make way, with its stack; null if that is not known
   */
  public StalledError(String what, long millis, @Nullable Throwable where) {
    super(
        "the thread that applies the log has waited for "
            + millis
            + " ms for "
            + what
            + ". The node stops, because nothing says that this would end. Start it again: it goes on"
            + " with its log. Report this line and the stack below it",
        where);
  }
}
