package dev.tollgate.spring.boot;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings under {@code tollgate}.
 *
 * @param url Where the lock client finds Tollgate, as a URL that begins with jdbc:tollgate:. The
 *     client then has connections of its own.
 * @param username The user, where nodes require authentication.
 * @param password The password of the user.
 * @param properties Further properties of the driver, such as failoverTimeout.
 * @param fromDataSource Whether the lock client takes its connections from the DataSource of the
 *     application. Without this setting it does so if spring.datasource.url begins with
 *     jdbc:tollgate: and tollgate.url is not set.
 * @param lock How locks are asked for.
 * @param lockRegistry The lock registry of Spring Integration.
 * @param health The health indicator.
 */
@ConfigurationProperties("tollgate")
public record TollgateProperties(
    @Nullable String url,
    @Nullable String username,
    @Nullable String password,
    @DefaultValue Map<String, String> properties,
    @Nullable Boolean fromDataSource,
    @DefaultValue Lock lock,
    @DefaultValue LockRegistry lockRegistry,
    @DefaultValue Health health) {

  /**
   * How locks are asked for where the code does not say.
   *
   * @param ttl How long a lock outlives the process that holds it.
   * @param owner Who holds a lock, for operators. Without this setting, spring.application.name.
   */
  public record Lock(@DefaultValue("15s") Duration ttl, @Nullable String owner) {}

  /**
   * The lock registry of Spring Integration.
   *
   * @param enabled Whether there is a lock registry for Spring Integration.
   * @param prefix What stands before the key in the name of a lock.
   */
  public record LockRegistry(
      @DefaultValue("true") boolean enabled, @DefaultValue("") String prefix) {}

  /**
   * The health indicator.
   *
   * @param timeout How long the cluster may take to answer the health indicator.
   */
  public record Health(@DefaultValue("2s") Duration timeout) {
    public Health {
      if (timeout.isZero() || timeout.isNegative()) {
        throw new IllegalArgumentException(
            "tollgate.health.timeout is " + timeout + ": it is longer than zero");
      }
    }
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "tollgate at " + (url == null ? "the application's data source" : url);
  }
}
