package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

/**
 * A request that waits for a lock.
 *
 * @param position in the queue, from 1 on
 * @param owner of the lease for which the lock is wanted, or the name of its application
 * @param shared whether the lock is wanted together with other shared holders
 */
public record Waiter(long position, String owner, boolean shared) {
  public Waiter {
    requireNonNull(owner, "owner");
  }
}
