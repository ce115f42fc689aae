package dev.tollgate.lock;

/**
 * A lock, or a lease with its locks, is lost, or this process can no longer prove that it has it.
 * Another process may hold the lock already.
 *
 * <p>It is an {@link IllegalMonitorStateException}, because that is what {@link
 * java.util.concurrent.locks.Lock#unlock} throws to a thread that does not hold the lock.
 */
public final class LockLostException extends IllegalMonitorStateException {
  private static final long serialVersionUID = 1L;

  LockLostException(String message) {
    super(message);
  }
}
