package dev.tollgate.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.integration.support.locks.LockRegistry;

/** With Spring Integration 6.5. */
@EnumSource(value = Transport.class, names = "TCP")
class Boot3LockRegistryTest extends LockRegistryContract {
  @Override
  Subject registry(LockClient client, LockOptions options, String prefix) {
    Integration6LockRegistry registry = new Integration6LockRegistry(client, options, prefix);
    return new Subject() {
      @Override
      public RegistryLock obtain(Object key) {
        return (RegistryLock) registry.obtain(key);
      }

      @Override
      public void renewLock(Object key) {
        registry.renewLock(key);
      }

      @Override
      public void renewLock(Object key, Duration ttl) {
        registry.renewLock(key, ttl);
      }

      @Override
      public void expireUnusedOlderThan(long ageMillis) {
        registry.expireUnusedOlderThan(ageMillis);
      }
    };
  }

  /** Why there are two classes: the other one names what 6.5 does not have. */
  @Test
  void classForVersionSevenCannotBeReadHere() throws Exception {
    assertEquals(0, LockRegistry.class.getTypeParameters().length);
    assertThrows(LinkageError.class, TollgateLockRegistry.class::getDeclaredMethods);
    assertEquals(
        LockRegistry.class,
        Integration6LockRegistry.class.getGenericInterfaces()[0] instanceof Class<?> each
            ? each.getInterfaces()[0]
            : null);
  }
}
