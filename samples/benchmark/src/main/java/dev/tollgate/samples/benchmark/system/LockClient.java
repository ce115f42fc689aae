package dev.tollgate.samples.benchmark.system;

/** One client of one system: used by one thread, with a lease or session of its own. */
public interface LockClient {
  /** Takes a lock; waits for it if the system can, else fails if it is taken. */
  void acquire(String lock) throws Exception;

  /** Takes a lock if it is free. */
  boolean tryAcquire(String lock) throws Exception;

  /** Gives back a lock that was taken. */
  void release(String lock) throws Exception;

  /** Asks the servers whether a lock that was taken is still held. */
  default boolean holds(String lock) throws Exception {
    throw new UnsupportedOperationException("not used with this system");
  }

  /** Ends the client and its lease. */
  void disconnect() throws Exception;
}
