package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import dev.tollgate.migrations.MigrationSettings;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.Configuration;

/**
 * How a configuration of Flyway wants its lock.
 *
 * @param lease how long the lock outlives a run that does not answer
 * @param retries how many seconds to wait for another run; negative for as long as it takes
 */
record LockSettings(Duration lease, int retries) {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

  /** The longest that one request for a lock may wait. */
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  LockSettings {
    requireNonNull(lease, "lease");
  }

  @SuppressWarnings("deprecation") // the one name that each version of Flyway has
  static LockSettings of(Configuration configuration) {
    TollgateConfigurationExtension own =
        configuration.getPluginRegister().getPlugin(TollgateConfigurationExtension.class);
    String lease = own == null ? null : own.getLease();
    return new LockSettings(
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

  /** Waits in line for a lock. */
  MigrationLock acquire(Database tollgate, String name) {
    while (true) {
      try {
        return MigrationLock.acquire(tollgate, name, lease, waitOfOneRequest());
      } catch (MigrationException e) {
        boolean busy = e.reason() == MigrationException.Reason.LOCK_BUSY;
        if (busy && retries >= 0) {
          throw new FlywayException(
              e.getMessage()
                  + ". Another run of Flyway is at work: try again later, or let"
                  + " flyway.lockRetryCount be the seconds to wait, -1 for as long as it takes",
              e);
        }
        if (!busy) {
          throw new FlywayException(String.valueOf(e.getMessage()), e);
        }
      }
    }
  }

  private Duration waitOfOneRequest() {
    Duration wait = Duration.ofSeconds(retries);
    return retries < 0 || wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait;
  }

  /** A failure of a run, or the loss of its lock, from which the failure came. */
  static FlywayException explained(FlywayException failure, MigrationLock lock) {
    try {
      lock.assertHeld();
      return failure;
    } catch (MigrationException lost) {
      FlywayException refused =
          new FlywayException("The run was refused: " + lost.getMessage(), failure);
      refused.addSuppressed(lost);
      return refused;
    }
  }
}
