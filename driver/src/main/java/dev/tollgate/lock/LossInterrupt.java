package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

/**
 * Interrupts a thread, at most once, and never after {@link #end} has returned. {@link
 * Thread#interrupt} may run code of the application: a thread may override it, or stand in a
 * channel of its own. So this belongs on a thread of listeners. Thread-safe.
 */
final class LossInterrupt {
  private final Thread thread;
  private boolean over;

  LossInterrupt(Thread thread) {
    this.thread = requireNonNull(thread, "thread");
  }

  synchronized void fire() {
    if (!over) {
      over = true;
      thread.interrupt();
    }
  }

  /** Waits for an interrupt that is under way. */
  synchronized void end() {
    over = true;
  }
}
