package dev.tollgate.jdbc.wrong;

/** Breaks the rule that the driver does not know the lock API. */
public final class KnowsLock {
  private KnowsLock() {}

  static int limit(dev.tollgate.lock.LockClient client) {
    return client.hashCode();
  }
}
