package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.MigrationSettings;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.Configuration;

/**
 * What a command of Flyway needs to know of its lock.
 *
 * @param lease how long the lock outlives a run that does not answer
 * @param retries how many seconds to wait for another run; negative for as long as it takes
 */
record RunSettings(Configuration configuration, Duration lease, int retries) {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

  /** The least that Tollgate lets a session outlive its client. */
  private static final Duration LEAST_SESSION_TIMEOUT = Duration.ofSeconds(1);

  /** After the lease of a killed run its session may live on for as long, and an election. */
  private static final Duration BEYOND_THE_LEASE = Duration.ofSeconds(15);

  RunSettings {
    requireNonNull(configuration, "configuration");
    requireNonNull(lease, "lease");
  }

  @SuppressWarnings("deprecation") // the one name that each version of Flyway has
  static RunSettings of(Configuration configuration) {
    TollgateConfigurationExtension own =
        configuration.getPluginRegister().getPlugin(TollgateConfigurationExtension.class);
    String lease = own == null ? null : own.getLease();
    return new RunSettings(
        configuration,
        lease == null ? MigrationSettings.DEFAULT_LEASE : duration(lease),
        configuration.getLockRetryCount());
  }

  private static Duration duration(String text) {
    Matcher parts = DURATION.matcher(text.strip());
    if (!parts.matches()) {
      throw new FlywayException(
          "flyway.tollgate.lease is '" + text + "': write a number and a unit, such as 15s");
    }
    long number = Long.parseLong(parts.group(1));
    return switch (parts.group(2)) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      default -> Duration.ofHours(number);
    };
  }

  /** How long a statement waits for rows: longer than the transaction of a killed run lives. */
  Duration rowWait() {
    return lease.multipliedBy(2).plus(BEYOND_THE_LEASE);
  }

  /** Properties of connections that Flyway opens by a URL. */
  Map<String, String> sessionProperties() {
    Duration session = lease.compareTo(LEAST_SESSION_TIMEOUT) < 0 ? LEAST_SESSION_TIMEOUT : lease;
    return Map.of(
        "sessionTimeout", session.toMillis() + "ms", "lockTimeout", rowWait().toMillis() + "ms");
  }
}
