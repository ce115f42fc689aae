package dev.tollgate.samples.benchmark;

/** One client of one system: one thread, one connection, locks of its own choice. */
interface LockClient {
  /** Takes a lock that is free. */
  void acquire(String lock) throws Exception;

  /** Gives back the lock that was taken last. */
  void release(String lock) throws Exception;

  /** Ends the client and its lease. */
  void disconnect() throws Exception;
}
