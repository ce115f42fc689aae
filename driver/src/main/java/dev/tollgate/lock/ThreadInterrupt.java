package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

/**
 * Interrupts a thread, at most once, and never after {@link #end} has returned: the one way in
 * which this package interrupts a thread that may be in code of the application.
 *
 * <p>{@link Thread#interrupt} runs code of the application: a thread may override it, or stand in a
 * channel whose close blocks. So {@link #fire} runs on a thread of listeners, which holds no
 * monitor that others need. Thread-safe.
 */
final class ThreadInterrupt {
  private final Thread thread;
  private boolean over;

  ThreadInterrupt(Thread thread) {
    this.thread = requireNonNull(thread, "thread");
  }

  /**
   * Has the lane interrupt the thread, and does not wait. Interrupts at once if it is the calling
   * thread, which stands in no channel and reads its interrupt next.
   */
  void fireOn(ListenerLane lane) {
    if (Thread.currentThread() == thread) {
      fire();
    } else {
      lane.execute(this::fire);
    }
  }

  /** Call it on a thread of listeners. */
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

  /** Gives the calling thread the interrupt back that it has put off. */
  static void restore(boolean interrupted) {
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
