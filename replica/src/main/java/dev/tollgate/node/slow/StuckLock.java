package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Hold;
import dev.tollgate.core.Lease;
import dev.tollgate.core.Lock;
import dev.tollgate.core.Waiter;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * A hold of a lock, or a request that waits for one, that lasts long.
 *
 * @param token of a hold; null for a request
 * @param sinceMicros time in the log, microseconds since 1970
 * @param waiters how many requests wait for the lock
 */
public record StuckLock(
    LockName lock,
    @Nullable FencingToken token,
    Lease lease,
    SessionId session,
    long sinceMicros,
    int waiters) {
  public StuckLock {
    requireNonNull(lock, "lock");
    requireNonNull(lease, "lease");
    requireNonNull(session, "session");
  }

  static StuckLock of(Lock lock, Hold hold) {
    return new StuckLock(
        lock.name(),
        hold.token(),
        hold.lease(),
        hold.session(),
        hold.sinceMicros(),
        lock.waiters().size());
  }

  static StuckLock of(Lock lock, Waiter waiter) {
    return new StuckLock(
        lock.name(),
        null,
        waiter.lease(),
        waiter.request().session(),
        waiter.sinceMicros(),
        lock.waiters().size());
  }
}
