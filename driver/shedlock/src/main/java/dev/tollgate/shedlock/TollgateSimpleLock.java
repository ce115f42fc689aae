package dev.tollgate.shedlock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockLostException;
import java.lang.System.Logger;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;

/** One lock until it is unlocked or extended; an extension is another object. */
final class TollgateSimpleLock extends AbstractSimpleLock {
  private static final Logger LOG = System.getLogger("dev.tollgate.shedlock");

  private final ActiveLock active;
  private final long sinceNanos;

  /**
   * @param sinceNanos when {@code lockAtLeastFor} began, on the monotonic clock
   */
  TollgateSimpleLock(LockConfiguration configuration, ActiveLock active, long sinceNanos) {
    super(configuration);
    this.active = requireNonNull(active, "active");
    this.sinceNanos = sinceNanos;
  }

  /** Does not fail: a task that is done is done, and the lock ends in time without this call. */
  @Override
  protected void doUnlock() {
    HeldLock held = active.end();
    Duration elapsed = Duration.ofNanos(System.nanoTime() - sinceNanos);
    Duration keep = lockConfiguration.getLockAtLeastFor().minus(elapsed);
    try {
      if (!held.isHeld()) {
        LOG.log(
            Logger.Level.WARNING,
            "{0} ended before it was unlocked: its task took longer than lockAtMostFor",
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
   */
  @Override
  protected Optional<SimpleLock> doExtend(LockConfiguration extended) {
    long askedNanos = System.nanoTime();
    try {
      active.extend(extended.getLockAtMostFor());
      return Optional.of(new TollgateSimpleLock(extended, active, askedNanos));
    } catch (LockLostException e) {
      LOG.log(Logger.Level.DEBUG, "not extended: {0}", e.getMessage());
      return Optional.empty();
    } catch (dev.tollgate.lock.LockException e) {
      throw new LockException("lock '" + extended.getName() + "': " + e.getMessage(), e);
    }
  }
}
