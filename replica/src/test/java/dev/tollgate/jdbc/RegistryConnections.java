package dev.tollgate.jdbc;

import dev.tollgate.transport.ClusterRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;

/** Connections of a client that shares nothing with the other clients of this JVM. */
public final class RegistryConnections {
  private RegistryConnections() {}

  /** Opens a connection as the driver does, by a registry of its own. */
  public static Connection open(ClusterRegistry registry, String url, Properties properties)
      throws SQLException {
    return TollgateDriver.open(registry, ConnectionSettings.parse(url, properties), Duration.ZERO);
  }
}
