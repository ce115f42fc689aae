package dev.tollgate.spring;

import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;

/** With the interface that Spring Integration has since version 7. */
final class DistributedRegistryLock extends RegistryLock implements TollgateLock {
  DistributedRegistryLock(LockClient client, String name, LockOptions options) {
    super(client, name, options);
  }
}
