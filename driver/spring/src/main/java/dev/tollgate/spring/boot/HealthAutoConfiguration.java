package dev.tollgate.spring.boot;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The health indicator {@code tollgate}. Boot 3.5 and 4.0 have the same interfaces in different
 * packages, so there are two classes for each; the class path decides which are read.
 */
@AutoConfiguration(after = TollgateAutoConfiguration.class)
@ConditionalOnBean(Cluster.class)
public final class HealthAutoConfiguration {
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  ClusterProbe tollgateProbe(Cluster cluster, TollgateProperties properties) {
    return new ClusterProbe(cluster, properties.health().timeout());
  }

  /** Boot 4. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(
      org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator
          .class)
  @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator(
      "tollgate")
  static class Boot4 {
    @Bean
    @ConditionalOnMissingBean(name = "tollgateHealthIndicator")
    TollgateHealthIndicator tollgateHealthIndicator(ClusterProbe probe) {
      return new TollgateHealthIndicator(probe);
    }
  }

  /** Boot 3.5. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(
      org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator
          .class)
  @org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator(
      "tollgate")
  static class Boot3 {
    @Bean
    @ConditionalOnMissingBean(name = "tollgateHealthIndicator")
    Boot3HealthIndicator tollgateHealthIndicator(ClusterProbe probe) {
      return new Boot3HealthIndicator(probe);
    }
  }
}
