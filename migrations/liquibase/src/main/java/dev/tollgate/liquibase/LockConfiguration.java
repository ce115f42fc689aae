package dev.tollgate.liquibase;

import liquibase.configuration.AutoloadedConfigurations;
import liquibase.configuration.ConfigurationDefinition;

/**
 * The settings of this extension, wherever Liquibase takes settings from: defaults file, system
 * property, environment (TOLLGATE_LOCK_URL), Scope.
 */
public final class LockConfiguration implements AutoloadedConfigurations {
  /** The Tollgate that keeps the lock for changes of another database; not set: no such lock. */
  public static final ConfigurationDefinition<String> URL;

  /** The lock, where the default does not do. */
  public static final ConfigurationDefinition<String> NAME;

  /** How many seconds the lock outlives a process that dies or pauses. */
  public static final ConfigurationDefinition<Long> LEASE_SECONDS;

  private static final long DEFAULT_LEASE_SECONDS = 15;

  static {
    ConfigurationDefinition.Builder settings = new ConfigurationDefinition.Builder("tollgate.lock");
    URL =
        settings
            .define("url", String.class)
            .setDescription("JDBC URL of the Tollgate that keeps the lock of another database")
            .build();
    NAME =
        settings
            .define("name", String.class)
            .setDescription("Name of the lock; by default liquibase:<schema>.<DATABASECHANGELOG>")
            .build();
    LEASE_SECONDS =
        settings
            .define("leaseSeconds", Long.class)
            .setDescription("How long the lock outlives a process that dies or pauses")
            .setDefaultValue(DEFAULT_LEASE_SECONDS)
            .build();
  }
}
