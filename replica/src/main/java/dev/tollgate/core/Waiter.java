package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.RequestId;
import java.util.List;

/**
 * A request that stands in a lock's queue.
 *
 * @param sinceMicros log time at which the request entered the queue, microseconds since 1970
 * @param waitMillis how long the client wants to wait; the leader measures this time
 * @param together the locks that the request asks for, if it asks for several: it stands in the
 *     queue of each, and gets all or none. Empty for a request for one lock
 */
public record Waiter(
    RequestId request,
    Lease lease,
    LockMode mode,
    long sinceMicros,
    long waitMillis,
    List<LockName> together) {
  public Waiter {
    requireNonNull(request, "request");
    requireNonNull(lease, "lease");
    requireNonNull(mode, "mode");
    together = List.copyOf(together);
  }

  boolean isForSeveral() {
    return !together.isEmpty();
  }
}
