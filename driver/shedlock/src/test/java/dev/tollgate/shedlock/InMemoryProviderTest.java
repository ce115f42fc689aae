package dev.tollgate.shedlock;

import java.util.UUID;

/** The provider over {@code jdbc:tollgate:mem:}. */
class InMemoryProviderTest extends LockProviderContract {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();

  @Override
  String url() {
    return url;
  }
}
