package dev.tollgate.shedlock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockLostException;
import java.lang.System.Logger;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;

/**
 * One lock until it is unlocked or extended; an extension is another object. Unlike ShedLock's
 * AbstractSimpleLock, it can be unlocked after an extension that failed. Thread-safe.
 */
final class TollgateSimpleLock implements SimpleLock {
  private static final Logger LOG = System.getLogger("dev.tollgate.shedlock");

  private final LockConfiguration configuration;
  private final ActiveLock active;
  private final long sinceNanos;
  private boolean used;

  /**
   * @param sinceNanos when {@code lockAtLeastFor} began, on the monotonic clock
   */
  TollgateSimpleLock(LockConfiguration configuration, ActiveLock active, long sinceNanos) {
    this.configuration = requireNonNull(configuration, "configuration");
    this.active = requireNonNull(active, "active");
    this.sinceNanos = sinceNanos;
  }

  /**
   * Does not fail because of the cluster: a task that is done is done, and the lock ends in time
   * without this call.
   */
  @Override
  public synchronized void unlock() {
    requireUnused();
    used = true;
    release(active.end());
  }

  private void release(HeldLock held) {
    Duration elapsed = Duration.ofNanos(System.nanoTime() - sinceNanos);
    Duration keep = configuration.getLockAtLeastFor().minus(elapsed);
    try {
      if (!held.isHeld()) {
        LOG.log(
            Logger.Level.WARNING,
            "{0} ended before it was unlocked: its task took longer than lockAtMostFor, or its client"
                + " was closed",
            held);
      } else if (keep.isNegative() || keep.isZero()) {
        held.close();
      } else {
        held.releaseAfter(roundedUp(keep));
      }
    } catch (LockLostException | dev.tollgate.lock.LockException e) {
      LOG.log(
          Logger.Level.WARNING,
          "{0} is not unlocked, and ends when its time is over: {1}",
          held,
          e.getMessage());
    }
  }

  /** The cluster counts milliseconds. */
  private static Duration roundedUp(Duration duration) {
    return Duration.ofMillis(duration.plusNanos(999_999).toMillis());
  }

  /**
   * Extends the lock from now on. {@code lockAtMostFor} as before keeps the token; any other time
   * gives the lock a higher one.
   *
   * @return empty if the lock has ended
   * @throws LockException if the cluster does not answer
   */
  @Override
  public synchronized Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
    requireUnused();
    LockConfiguration extended =
        new LockConfiguration(
            ClockProvider.now(), configuration.getName(), lockAtMostFor, lockAtLeastFor);
    long askedNanos = System.nanoTime();
    try {
      active.extend(lockAtMostFor);
      used = true;
      return Optional.of(new TollgateSimpleLock(extended, active, askedNanos));
    } catch (LockLostException e) {
      LOG.log(Logger.Level.DEBUG, "not extended: {0}", e.getMessage());
      return Optional.empty();
    } catch (dev.tollgate.lock.LockException e) {
      throw new LockException(
          "lock '" + configuration.getName() + "' is not extended: " + e.getMessage(), e);
    }
  }

  private void requireUnused() {
    if (used) {
      throw new IllegalStateException(
          "lock '" + configuration.getName() + "' was unlocked or extended before");
    }
  }
}
