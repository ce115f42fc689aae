package dev.tollgate.flyway;

import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/** Flyway's migrate in a process of its own; what it applies, or why it does not, is printed. */
final class FlywayRunner {
  private FlywayRunner() {}

  /**
   * @param arguments the URL of the database, the folder of scripts, the lease, and, for a database
   *     that is not Tollgate, the URL of the Tollgate that keeps the lock, or "own" for the lock of
   *     Flyway itself
   */
  @SuppressWarnings("deprecation") // the one name that each version of Flyway has
  public static void main(String[] arguments) {
    FluentConfiguration configuration =
        Flyway.configure()
            .dataSource(arguments[0], null, null)
            .locations("filesystem:" + arguments[1])
            .lockRetryCount(Integer.getInteger("retries", 120));
    configuration
        .getPluginRegister()
        .getPlugin(TollgateConfigurationExtension.class)
        .setLease(arguments[2]);
    Flyway flyway = configuration.load();
    try {
      int applied =
          arguments.length == 3 || arguments[3].equals("own")
              ? flyway.migrate().migrationsExecuted
              : FencedFlyway.under(arguments[3])
                  .withEndOfFormerRuns()
                  .migrate(flyway)
                  .migrationsExecuted;
      System.out.println("applied " + applied);
    } catch (FlywayException e) {
      System.out.println("ended: " + e.getMessage());
      System.exit(1);
    }
  }
}
