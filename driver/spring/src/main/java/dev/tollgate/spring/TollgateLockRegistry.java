package dev.tollgate.spring;

import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.time.Duration;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * The locks of a {@link LockClient} as a lock registry of Spring Integration 7. Thread-safe.
 *
 * <p>All registries and locks of one client share what its threads hold: a thread that has a lock
 * enters it again through another registry with the same names. The registry keeps nothing for a
 * lock that is not held, so it has no cache to bound or to clear. What threads hold at a time is
 * bounded by {@link dev.tollgate.lock.LockLimits#LEASES}.
 */
public final class TollgateLockRegistry
    implements RenewableLockRegistry<DistributedLock>, ExpirableLockRegistry<DistributedLock> {
  private final RegistryKeys keys;

  /** Keys are the names of locks, with the default options. */
  public TollgateLockRegistry(LockClient client) {
    this(client, LockOptions.DEFAULT, "");
  }

  /**
   * @param options of which the ttl, the owner and the interrupt on loss apply
   * @param prefix what stands before a key in the name of its lock
   */
  public TollgateLockRegistry(LockClient client, LockOptions options, String prefix) {
    this.keys = new RegistryKeys(client, options, prefix);
  }

  /**
   * Sends nothing.
   *
   * @param lockKey a String of at most 255 characters, with the prefix
   */
  @Override
  public TollgateLock obtain(Object lockKey) {
    return new DistributedRegistryLock(keys.client(), keys.nameOf(lockKey), keys.options());
  }

  /**
   * Renews a lock that this thread has taken for a fixed term, by that term. Other locks are
   * renewed by heartbeats; for them, asks the cluster whether the lock is held.
   *
   * @throws dev.tollgate.lock.LockLostException if the lock is lost
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   */
  @Override
  public void renewLock(Object lockKey) {
    keys.renew(lockKey, null);
  }

  /**
   * As {@link #renewLock(Object)}, by another term. If the term is not the one that the lock has,
   * the lock has a higher token afterwards.
   */
  @Override
  public void renewLock(Object lockKey, Duration ttl) {
    keys.renew(lockKey, ttl);
  }

  /** Does nothing: nothing is kept for a lock that is not held. */
  @Override
  public void expireUnusedOlderThan(long age) {}

  @Override
  public String toString() {
    return "locks of Tollgate with prefix '" + keys.prefix() + "'";
  }
}
