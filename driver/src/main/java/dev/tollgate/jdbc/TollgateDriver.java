package dev.tollgate.jdbc;

import dev.tollgate.transport.ClusterRegistry;
import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.NodeSurvey;
import dev.tollgate.transport.SnapshotDownload;
import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.SqlState;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The driver for URLs that begin with {@code jdbc:tollgate:}. DriverManager finds it by itself.
 *
 * <ul>
 *   <li>{@code jdbc:tollgate://host1:7400,host2:7400,host3:7400/?lease=15s} - a cluster
 *   <li>{@code jdbc:tollgate:embedded:directory} - one durable node in this JVM
 *   <li>{@code jdbc:tollgate:mem:name} - one node in this JVM that keeps no data when it closes
 * </ul>
 */
public final class TollgateDriver implements Driver {
  static {
    try {
      DriverManager.registerDriver(new TollgateDriver());
    } catch (SQLException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Returns null if the URL is for another driver. */
  @Override
  public @Nullable Connection connect(String url, @Nullable Properties info) throws SQLException {
    if (!acceptsURL(url)) {
      return null;
    }
    Properties properties = info == null ? new Properties() : info;
    return open(
        ConnectionSettings.parse(url, properties),
        Duration.ofSeconds(DriverManager.getLoginTimeout()));
  }

  /**
   * Has a node take a snapshot, for backups: the first reachable node of the URL, or the leader.
   * Needs no session. Needs a quorum only if the leader has to take the snapshot.
   *
   * @param leaderOnly true for a snapshot by the leader, which covers all that was committed before
   */
  public static SnapshotDownload openSnapshot(String url, boolean leaderOnly) throws SQLException {
    return openSnapshot(url, new Properties(), leaderOnly);
  }

  /** As {@link #openSnapshot(String, boolean)}, with properties beside the URL. */
  public static SnapshotDownload openSnapshot(String url, Properties properties, boolean leaderOnly)
      throws SQLException {
    ConnectionSettings settings = settingsOf(url, properties);
    try {
      return ClusterRegistry.shared()
          .openSnapshot(settings.target(), settings.session(), leaderOnly);
    } catch (TransportException e) {
      throw JdbcErrors.exception(e);
    }
  }

  /**
   * Asks the nodes of the URL, and the nodes that these name, what each knows about itself and the
   * others. Needs no session and no quorum. A node that does not answer is listed with the reason.
   */
  public static List<NodeSurvey.Answer> surveyNodes(String url) throws SQLException {
    return surveyNodes(url, new Properties());
  }

  /** As {@link #surveyNodes(String)}, with properties beside the URL. */
  public static List<NodeSurvey.Answer> surveyNodes(String url, Properties properties)
      throws SQLException {
    ConnectionSettings settings = settingsOf(url, properties);
    try {
      return ClusterRegistry.shared().survey(settings.target(), settings.session());
    } catch (TransportException e) {
      throw JdbcErrors.exception(e);
    }
  }

  private static ConnectionSettings settingsOf(String url, Properties properties)
      throws SQLException {
    if (!ConnectionSettings.accepts(url)) {
      throw JdbcErrors.exception(
          SqlState.INVALID_ARGUMENT, "'" + url + "' is no URL of jdbc:tollgate:");
    }
    return ConnectionSettings.parse(url, properties);
  }

  /** The cluster's lock timeout for a new session. */
  private static final Duration DEFAULT_LOCK_TIMEOUT = Duration.ofSeconds(2);

  static Connection open(ConnectionSettings settings, Duration limit) throws SQLException {
    return open(ClusterRegistry.shared(), settings, limit);
  }

  static Connection open(ClusterRegistry registry, ConnectionSettings settings, Duration limit)
      throws SQLException {
    try {
      ClusterSession session = registry.open(settings.target(), settings.session(), limit);
      TollgateSession tollgate =
          new TollgateSession(session, settings.fetchSize(), settings.session().timeZone());
      TollgateConnection connection = new TollgateConnection(tollgate, settings);
      if (!settings.lockTimeout().equals(DEFAULT_LOCK_TIMEOUT)) {
        try (Statement statement = connection.createStatement()) {
          statement.execute("SET LOCK_TIMEOUT " + settings.lockTimeout().toMillis());
        } catch (SQLException e) {
          connection.close();
          throw e;
        }
      }
      return connection;
    } catch (TransportException e) {
      throw JdbcErrors.exception(e);
    }
  }

  @Override
  public boolean acceptsURL(@Nullable String url) throws SQLException {
    if (url == null) {
      throw new SQLException("The URL is null.");
    }
    return ConnectionSettings.accepts(url);
  }

  @Override
  public DriverPropertyInfo[] getPropertyInfo(String url, @Nullable Properties info) {
    return Arrays.stream(TollgateProperty.values())
        .map(property -> describe(property, info == null ? new Properties() : info))
        .toArray(DriverPropertyInfo[]::new);
  }

  private static DriverPropertyInfo describe(TollgateProperty property, Properties given) {
    DriverPropertyInfo description =
        new DriverPropertyInfo(
            property.key(),
            property.isSecret()
                ? property.defaultValue()
                : given.getProperty(property.key(), property.defaultValue()));
    description.description = property.description();
    description.required = false;
    if (!property.choices().isEmpty()) {
      description.choices = property.choices().toArray(String[]::new);
    }
    return description;
  }

  @Override
  public int getMajorVersion() {
    return DriverVersion.MAJOR;
  }

  @Override
  public int getMinorVersion() {
    return DriverVersion.MINOR;
  }

  /** Returns false: no JDBC test suite was run that could confirm compliance. */
  @Override
  public boolean jdbcCompliant() {
    return false;
  }

  /** Not supported: the driver logs through {@link System.Logger}, named dev.tollgate. */
  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException("The driver logs through System.Logger.");
  }
}
