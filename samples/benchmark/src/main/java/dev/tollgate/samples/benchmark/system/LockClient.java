package dev.tollgate.samples.benchmark.system;

/** One client of one system: used by one thread, with a lease or session of its own. */
public interface LockClient {
  /**
   * Acquires a lock. If the lock is held, the client waits if the system can, and otherwise fails.
   */
  void acquire(String lock) throws Exception;

  /** Acquires a lock if it is free. */
  boolean tryAcquire(String lock) throws Exception;

  /** Releases a lock that was acquired. */
  void release(String lock) throws Exception;

  /** Asks the servers whether an acquired lock is still held. */
  default boolean holds(String lock) throws Exception {
    throw new UnsupportedOperationException("not used with this system");
  }

  /** Ends the client and its lease. */
  void disconnect() throws Exception;
}
