package dev.tollgate.contract;

import dev.tollgate.lock.LockClient;
import java.util.UUID;

/** The lock API over {@code jdbc:tollgate:mem:}. */
class InMemoryLockTest extends LockContract {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();

  @Override
  String url() {
    return url;
  }

  @Override
  LockClient client() {
    return LockClient.connect(url);
  }
}
