package dev.tollgate.spring.boot;

import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import dev.tollgate.spring.Integration6LockRegistry;
import dev.tollgate.spring.TollgateLockRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.LockRegistry;

/** A lock registry for Spring Integration, if the application has none. */
@AutoConfiguration(after = TollgateAutoConfiguration.class)
@ConditionalOnClass(LockRegistry.class)
@ConditionalOnBean(LockClient.class)
@ConditionalOnMissingBean(LockRegistry.class)
@ConditionalOnProperty(prefix = "tollgate.lock-registry", name = "enabled", matchIfMissing = true)
public final class LockRegistryAutoConfiguration {
  private static final String SINCE_7 =
      "org.springframework.integration.support.locks.DistributedLock";

  /** Spring Integration 7. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = SINCE_7)
  static class Integration7 {
    @Bean
    TollgateLockRegistry tollgateLockRegistry(
        LockClient client, LockOptions options, TollgateProperties properties) {
      return new TollgateLockRegistry(client, options, properties.lockRegistry().prefix());
    }
  }

  /** Spring Integration 6.5. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingClass(SINCE_7)
  static class Integration6 {
    @Bean
    Integration6LockRegistry tollgateLockRegistry(
        LockClient client, LockOptions options, TollgateProperties properties) {
      return new Integration6LockRegistry(client, options, properties.lockRegistry().prefix());
    }
  }
}
