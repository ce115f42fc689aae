package dev.tollgate.spring;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What both registries do with a key. */
record RegistryKeys(LockClient client, LockOptions options, String prefix) {
  RegistryKeys {
    requireNonNull(client, "client");
    requireNonNull(options, "options");
    requireNonNull(prefix, "prefix");
  }

  String nameOf(Object key) {
    if (key instanceof String text) {
      return prefix + text;
    }
    throw new IllegalArgumentException(
        "the key of a lock is a String, and this is one of " + key.getClass().getName());
  }

  /**
   * Renews what this thread holds. A lock that heartbeats renew keeps its ttl, and with it its
   * token.
   *
   * @param term null for the ttl that the lock has
   * @throws dev.tollgate.lock.LockLostException if the lock is lost
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   */
  void renew(Object key, @Nullable Duration term) {
    FencedLock lock = client.asLock(nameOf(key), options);
    Lease lease = lock.held().lease();
    lock.extend(term == null || !lease.isFixed() ? lease.ttl() : term);
  }
}
