package dev.tollgate.shedlock;

import dev.tollgate.lock.HeldLock;

/** What a task of ShedLock asks for the lock under which it runs. */
public final class TollgateShedLock {
  private TollgateShedLock() {}

  /**
   * The lock of the task that runs on this thread, for {@link HeldLock#run}, {@link
   * HeldLock#assertHeld} and listeners. ShedLock releases it: do not close it. If the task extends
   * its lock by another time than before, this method returns another object afterwards.
   *
   * @throws IllegalStateException if no task with a lock of Tollgate runs on this thread
   */
  public static HeldLock current() {
    return ActiveLock.innermost()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "thread '"
                        + Thread.currentThread().getName()
                        + "' runs no task with a lock of TollgateLockProvider: ask on the thread"
                        + " on which ShedLock runs the task, and hand the lock on from there"));
  }

  /**
   * The fencing token of the task that runs on this thread.
   *
   * @throws IllegalStateException as {@link #current}
   */
  public static long currentToken() {
    return current().token();
  }
}
