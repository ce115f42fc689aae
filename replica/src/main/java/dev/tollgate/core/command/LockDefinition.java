package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

/**
 * What CREATE LOCK says about a lock.
 *
 * @param permits how many leases may hold the lock at a time, 1 to {@link Limits#LOCK_PERMITS}
 */
public record LockDefinition(LockName lock, int permits) {
  public LockDefinition {
    requireNonNull(lock, "lock");
    if (permits < 1 || permits > Limits.LOCK_PERMITS) {
      throw new IllegalArgumentException("permits: " + permits);
    }
  }
}
