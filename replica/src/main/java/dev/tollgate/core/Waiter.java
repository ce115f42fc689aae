package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.RequestId;

/**
 * A request that stands in a lock's queue.
 *
 * @param sinceMicros log time at which the request entered the queue, microseconds since 1970
 * @param waitMillis how long the client wants to wait; the leader measures this time
 */
public record Waiter(
    RequestId request, Lease lease, LockMode mode, long sinceMicros, long waitMillis) {
  public Waiter {
    requireNonNull(request, "request");
    requireNonNull(lease, "lease");
    requireNonNull(mode, "mode");
  }
}
