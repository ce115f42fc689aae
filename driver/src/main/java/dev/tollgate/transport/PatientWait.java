package dev.tollgate.transport;

/**
 * A wait that an interrupt does not end: what waits goes on, and the interrupt stays set for what
 * comes after. All waits of the driver are of this kind, except the waits for locks, whose callers
 * may leave them ({@link InterruptibleCall}), and the pauses of threads of the driver's own.
 */
@FunctionalInterface
public interface PatientWait {
  /** Waits for at most this time; returns false if the time is over. */
  boolean await(long nanos) throws InterruptedException;

  /** A wait for something. */
  @FunctionalInterface
  interface For<R, E extends Exception> {
    R await() throws InterruptedException, E;
  }

  /**
   * Waits to the end.
   *
   * @param deadlineNanos as of {@link System#nanoTime}
   * @return false if the time is over
   */
  static boolean until(long deadlineNanos, PatientWait wait) {
    return forAnswer(() -> wait.await(Math.max(0, deadlineNanos - System.nanoTime())));
  }

  /** Waits, and begins the wait anew after each interrupt. */
  static <R, E extends Exception> R forAnswer(For<R, E> wait) throws E {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return wait.await();
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
