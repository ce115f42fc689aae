package dev.tollgate.lock;

/** A wait that goes on if its thread is interrupted: the interrupt is left for what comes after. */
@FunctionalInterface
interface PatientWait {
  /** Waits for at most this time; returns false if the time is over. */
  boolean await(long nanos) throws InterruptedException;

  /**
   * Waits to the end.
   *
   * @param deadlineNanos as of {@link System#nanoTime}
   * @return false if the time is over
   */
  static boolean until(long deadlineNanos, PatientWait wait) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return wait.await(Math.max(0, deadlineNanos - System.nanoTime()));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      ThreadInterrupt.restore(interrupted);
    }
  }
}
