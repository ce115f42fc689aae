package dev.tollgate.flyway;

import org.flywaydb.core.extensibility.ConfigurationExtension;
import org.jspecify.annotations.Nullable;

/**
 * The settings of Flyway that only Tollgate has: flyway.tollgate.lease. Flyway fills the fields by
 * their names.
 */
public final class TollgateConfigurationExtension implements ConfigurationExtension {
  private static final String LEASE = "flyway.tollgate.lease";

  private @Nullable String lease;

  /** How long the lock outlives a run that does not answer, such as 15s; null for the default. */
  public @Nullable String getLease() {
    return lease;
  }

  public void setLease(@Nullable String lease) {
    this.lease = lease;
  }

  @Override
  public String getNamespace() {
    return "tollgate";
  }

  @Override
  public @Nullable String getConfigurationParameterFromEnvironmentVariable(String variable) {
    return variable.equals("FLYWAY_TOLLGATE_LEASE") ? LEASE : null;
  }
}
