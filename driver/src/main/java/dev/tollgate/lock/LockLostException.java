package dev.tollgate.lock;

import java.sql.SQLException;

/**
 * A lock, or a lease with its locks, is lost, or this process can no longer prove that it has it.
 * Another process may hold the lock already. Each method that finds such a loss throws this type:
 * those of {@link Lease}, {@link HeldLock}, {@link FencedLock} and {@link Leadership}, and those of
 * the adapters that may choose what they throw.
 *
 * <p>It is an {@link IllegalMonitorStateException}, because that is what {@link
 * java.util.concurrent.locks.Lock#unlock} throws to a thread that does not hold the lock.
 */
public final class LockLostException extends IllegalMonitorStateException {
  private static final long serialVersionUID = 1L;

  LockLostException(String message) {
    super(message);
  }

  /**
   * @param refused what the cluster has refused because of the loss
   */
  LockLostException(String message, SQLException refused) {
    super(message);
    initCause(refused);
  }
}
