package dev.tollgate.spring;

import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.time.Duration;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * What {@link TollgateLockRegistry} is, for Spring Integration 6.5. There a registry has no type of
 * locks, and {@code DistributedLock} does not exist. The raw types keep the class loadable: its
 * signature names nothing that 6.5 does not have.
 */
@SuppressWarnings({"rawtypes", "unchecked"})
public final class Integration6LockRegistry
    implements RenewableLockRegistry, ExpirableLockRegistry {
  private final RegistryKeys keys;

  /** As {@link TollgateLockRegistry#TollgateLockRegistry(LockClient)}. */
  public Integration6LockRegistry(LockClient client) {
    this(client, LockOptions.DEFAULT, "");
  }

  /**
   * As {@link TollgateLockRegistry#TollgateLockRegistry(LockClient, LockOptions, String)}.
   *
   * @param options of which the ttl, the owner and the interrupt on loss apply
   * @param prefix what stands before a key in the name of its lock
   */
  public Integration6LockRegistry(LockClient client, LockOptions options, String prefix) {
    this.keys = new RegistryKeys(client, options, prefix);
  }

  /** As {@link TollgateLockRegistry#obtain}. */
  @Override
  public FencedLock obtain(Object lockKey) {
    return new RegistryLock(keys.client(), keys.nameOf(lockKey), keys.options());
  }

  /** As {@link TollgateLockRegistry#renewLock(Object)}. */
  @Override
  public void renewLock(Object lockKey) {
    keys.renew(lockKey, null);
  }

  /** As {@link TollgateLockRegistry#renewLock(Object, Duration)}; 6.5 itself does not call it. */
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
