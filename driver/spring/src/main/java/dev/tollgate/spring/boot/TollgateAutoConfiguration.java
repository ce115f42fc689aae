package dev.tollgate.spring.boot;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.util.Properties;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * A {@link LockClient} of {@code tollgate.url}, or of the application's data source if that is
 * Tollgate's; and the {@link LockOptions} that the properties give.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration"
    })
@EnableConfigurationProperties(TollgateProperties.class)
public final class TollgateAutoConfiguration {
  private static final String APPLICATION = "spring.application.name";

  @Bean
  @ConditionalOnMissingBean
  LockOptions tollgateLockOptions(TollgateProperties properties, Environment environment) {
    LockOptions options = LockOptions.DEFAULT.ttl(properties.lock().ttl());
    String owner = properties.lock().owner();
    if (!StringUtils.hasText(owner)) {
      owner = environment.getProperty(APPLICATION);
    }
    return StringUtils.hasText(owner) ? options.owner(owner) : options;
  }

  @Bean
  @ConditionalOnBean(Cluster.class)
  @ConditionalOnMissingBean
  LockClient tollgateLockClient(Cluster cluster) {
    return cluster.newLockClient();
  }

  /** With connections of the client's own. */
  @Configuration(proxyBeanMethods = false)
  @Conditional(OnTollgateUrl.class)
  static class OwnConnections {
    @Bean
    Cluster tollgateCluster(TollgateProperties properties, Environment environment) {
      String url = properties.url();
      if (url == null || !url.startsWith(DriverClassSource.URL_PREFIX)) {
        throw new IllegalArgumentException(
            "tollgate.url is '" + url + "': it begins with " + DriverClassSource.URL_PREFIX);
      }
      Properties driver = new Properties();
      putIfText(driver, "applicationName", environment.getProperty(APPLICATION));
      putIfText(driver, "user", properties.username());
      putIfText(driver, "password", properties.password());
      driver.putAll(properties.properties());
      return new Cluster.OfUrl(url, driver, new TollgateDriver());
    }

    private static void putIfText(Properties driver, String name, @Nullable String value) {
      if (StringUtils.hasText(value)) {
        driver.setProperty(name, value);
      }
    }
  }

  /** With connections of the application's pool. */
  @Configuration(proxyBeanMethods = false)
  @Conditional(OnTollgateDataSource.class)
  @ConditionalOnSingleCandidate(DataSource.class)
  static class PooledConnections {
    @Bean
    Cluster tollgateCluster(DataSource dataSource) {
      return new Cluster.OfDataSource(dataSource);
    }
  }
}
