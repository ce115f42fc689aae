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
 * The driver for URLs that begin with {@code jdbc:tollgate:}. Found by DriverManager by itself.
 *
 * <ul>
 *   <li>{@code jdbc:tollgate://host1:7400,host2:7400,host3:7400/?lease=15s} - a cluster
 *   <li>{@code jdbc:tollgate:embedded:directory} - one durable node in this JVM
 *   <li>{@code jdbc:tollgate:mem:name} - one node in this JVM that forgets
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

  /** Null if the URL is for another driver. */
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
   * Has a node take a snapshot, for backups: the first of the URL that can be reached, or the
   * leader. It needs no session, and no quorum unless it has to be the leader's.
   *
   * @param leaderOnly true for one that covers all that was committed before
   */
  public static SnapshotDownload openSnapshot(String url, boolean leaderOnly) throws SQLException {
    ConnectionSettings settings = settingsOf(url);
    try {
      return ClusterRegistry.shared()
          .openSnapshot(settings.target(), settings.session(), leaderOnly);
    } catch (TransportException e) {
      throw JdbcErrors.exception(e);
    }
  }

  /**
   * Asks the nodes of the URL, and those that they name, what each knows of itself and the others.
   * It needs no session and no quorum; a node that does not answer is in the list with the reason.
   */
  public static List<NodeSurvey.Answer> surveyNodes(String url) throws SQLException {
    ConnectionSettings settings = settingsOf(url);
    try {
      return ClusterRegistry.shared().survey(settings.target(), settings.session());
    } catch (TransportException e) {
      throw JdbcErrors.exception(e);
    }
  }

  private static ConnectionSettings settingsOf(String url) throws SQLException {
    if (!ConnectionSettings.accepts(url)) {
      throw JdbcErrors.exception(
          SqlState.INVALID_ARGUMENT, "'" + url + "' is no URL of jdbc:tollgate:");
    }
    return ConnectionSettings.parse(url, new Properties());
  }

  /** What holds in the cluster for a new session. */
  private static final Duration DEFAULT_LOCK_TIMEOUT = Duration.ofSeconds(2);

  static Connection open(ConnectionSettings settings, Duration limit) throws SQLException {
    try {
      ClusterSession session =
          ClusterRegistry.shared().open(settings.target(), settings.session(), limit);
      TollgateSession tollgate = new TollgateSession(session, settings.fetchSize());
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
            property.key(), given.getProperty(property.key(), property.defaultValue()));
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

  /** False: no suite of tests of JDBC was run that could confirm it. */
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
