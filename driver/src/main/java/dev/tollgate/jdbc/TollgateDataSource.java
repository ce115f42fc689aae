package dev.tollgate.jdbc;

import dev.tollgate.wire.SqlState;
import java.io.PrintWriter;
import java.io.Serializable;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A source of connections to a cluster, for containers and pools that set properties on a bean.
 * {@link TollgateProperty} describes each property. A value is written as in a URL; a property that
 * the URL itself sets wins. Not thread-safe while it is set up; {@link #getConnection} is.
 *
 * <p>The serialized form has all properties, the passwords in the clear, and not the log writer.
 */
public final class TollgateDataSource implements DataSource, Serializable {
  private static final long serialVersionUID = 1;

  private final Properties properties = new Properties();
  private @Nullable String url;
  private int loginTimeoutSeconds;
  private transient @Nullable PrintWriter logWriter;

  @Override
  public Connection getConnection() throws SQLException {
    return connect(properties);
  }

  @Override
  public Connection getConnection(@Nullable String user, @Nullable String password)
      throws SQLException {
    Properties withUser = new Properties();
    withUser.putAll(properties);
    put(withUser, TollgateProperty.USER, user);
    put(withUser, TollgateProperty.PASSWORD, password);
    return connect(withUser);
  }

  private Connection connect(Properties with) throws SQLException {
    String target = url;
    if (target == null || !ConnectionSettings.accepts(target)) {
      throw new SQLException(
          "The URL of a TollgateDataSource begins with jdbc:tollgate:, and this is " + target);
    }
    return TollgateDriver.open(
        ConnectionSettings.parse(target, with), Duration.ofSeconds(loginTimeoutSeconds));
  }

  public @Nullable String getUrl() {
    return url;
  }

  public void setUrl(String url) {
    this.url = url;
  }

  public @Nullable String getUser() {
    return get(TollgateProperty.USER);
  }

  public void setUser(@Nullable String user) {
    put(properties, TollgateProperty.USER, user);
  }

  public void setPassword(@Nullable String password) {
    put(properties, TollgateProperty.PASSWORD, password);
  }

  public @Nullable String getPasswordFile() {
    return get(TollgateProperty.PASSWORD_FILE);
  }

  public void setPasswordFile(@Nullable String passwordFile) {
    put(properties, TollgateProperty.PASSWORD_FILE, passwordFile);
  }

  public @Nullable String getPlainPassword() {
    return get(TollgateProperty.PLAIN_PASSWORD);
  }

  public void setPlainPassword(@Nullable String plainPassword) {
    put(properties, TollgateProperty.PLAIN_PASSWORD, plainPassword);
  }

  public @Nullable String getLease() {
    return get(TollgateProperty.LEASE);
  }

  public void setLease(@Nullable String lease) {
    put(properties, TollgateProperty.LEASE, lease);
  }

  public @Nullable String getLockWait() {
    return get(TollgateProperty.LOCK_WAIT);
  }

  public void setLockWait(@Nullable String lockWait) {
    put(properties, TollgateProperty.LOCK_WAIT, lockWait);
  }

  public @Nullable String getLockTimeout() {
    return get(TollgateProperty.LOCK_TIMEOUT);
  }

  public void setLockTimeout(@Nullable String lockTimeout) {
    put(properties, TollgateProperty.LOCK_TIMEOUT, lockTimeout);
  }

  public @Nullable String getSessionTimeout() {
    return get(TollgateProperty.SESSION_TIMEOUT);
  }

  public void setSessionTimeout(@Nullable String sessionTimeout) {
    put(properties, TollgateProperty.SESSION_TIMEOUT, sessionTimeout);
  }

  public @Nullable String getFailoverTimeout() {
    return get(TollgateProperty.FAILOVER_TIMEOUT);
  }

  public void setFailoverTimeout(@Nullable String failoverTimeout) {
    put(properties, TollgateProperty.FAILOVER_TIMEOUT, failoverTimeout);
  }

  public @Nullable String getConnectTimeout() {
    return get(TollgateProperty.CONNECT_TIMEOUT);
  }

  public void setConnectTimeout(@Nullable String connectTimeout) {
    put(properties, TollgateProperty.CONNECT_TIMEOUT, connectTimeout);
  }

  public @Nullable String getSocketTimeout() {
    return get(TollgateProperty.SOCKET_TIMEOUT);
  }

  public void setSocketTimeout(@Nullable String socketTimeout) {
    put(properties, TollgateProperty.SOCKET_TIMEOUT, socketTimeout);
  }

  public @Nullable String getReadConsistency() {
    return get(TollgateProperty.READ_CONSISTENCY);
  }

  public void setReadConsistency(@Nullable String readConsistency) {
    put(properties, TollgateProperty.READ_CONSISTENCY, readConsistency);
  }

  public @Nullable String getTimeZone() {
    return get(TollgateProperty.TIME_ZONE);
  }

  public void setTimeZone(@Nullable String timeZone) {
    put(properties, TollgateProperty.TIME_ZONE, timeZone);
  }

  public @Nullable String getApplicationName() {
    return get(TollgateProperty.APPLICATION_NAME);
  }

  public void setApplicationName(@Nullable String applicationName) {
    put(properties, TollgateProperty.APPLICATION_NAME, applicationName);
  }

  public @Nullable String getProductName() {
    return get(TollgateProperty.PRODUCT_NAME);
  }

  public void setProductName(@Nullable String productName) {
    put(properties, TollgateProperty.PRODUCT_NAME, productName);
  }

  public int getFetchSize() {
    String fetchSize = get(TollgateProperty.FETCH_SIZE);
    return fetchSize == null ? 0 : Integer.parseInt(fetchSize);
  }

  public void setFetchSize(int fetchSize) {
    put(properties, TollgateProperty.FETCH_SIZE, String.valueOf(fetchSize));
  }

  public @Nullable String getDataKeyFile() {
    return get(TollgateProperty.DATA_KEY_FILE);
  }

  public void setDataKeyFile(@Nullable String dataKeyFile) {
    put(properties, TollgateProperty.DATA_KEY_FILE, dataKeyFile);
  }

  public @Nullable String getSsl() {
    return get(TollgateProperty.SSL);
  }

  public void setSsl(@Nullable String ssl) {
    put(properties, TollgateProperty.SSL, ssl);
  }

  public @Nullable String getSslMode() {
    return get(TollgateProperty.SSL_MODE);
  }

  public void setSslMode(@Nullable String sslMode) {
    put(properties, TollgateProperty.SSL_MODE, sslMode);
  }

  public @Nullable String getSslRootCert() {
    return get(TollgateProperty.SSL_ROOT_CERT);
  }

  public void setSslRootCert(@Nullable String sslRootCert) {
    put(properties, TollgateProperty.SSL_ROOT_CERT, sslRootCert);
  }

  public @Nullable String getSslCert() {
    return get(TollgateProperty.SSL_CERT);
  }

  public void setSslCert(@Nullable String sslCert) {
    put(properties, TollgateProperty.SSL_CERT, sslCert);
  }

  public @Nullable String getSslKey() {
    return get(TollgateProperty.SSL_KEY);
  }

  public void setSslKey(@Nullable String sslKey) {
    put(properties, TollgateProperty.SSL_KEY, sslKey);
  }

  public void setSslKeyPassword(@Nullable String sslKeyPassword) {
    put(properties, TollgateProperty.SSL_KEY_PASSWORD, sslKeyPassword);
  }

  public @Nullable String getSslKeyStore() {
    return get(TollgateProperty.SSL_KEY_STORE);
  }

  public void setSslKeyStore(@Nullable String sslKeyStore) {
    put(properties, TollgateProperty.SSL_KEY_STORE, sslKeyStore);
  }

  public void setSslKeyStorePassword(@Nullable String sslKeyStorePassword) {
    put(properties, TollgateProperty.SSL_KEY_STORE_PASSWORD, sslKeyStorePassword);
  }

  public @Nullable String getSslMinVersion() {
    return get(TollgateProperty.SSL_MIN_VERSION);
  }

  public void setSslMinVersion(@Nullable String sslMinVersion) {
    put(properties, TollgateProperty.SSL_MIN_VERSION, sslMinVersion);
  }

  private @Nullable String get(TollgateProperty property) {
    return properties.getProperty(property.key());
  }

  private static void put(
      Properties properties, TollgateProperty property, @Nullable String value) {
    if (value == null) {
      properties.remove(property.key());
    } else {
      properties.setProperty(property.key(), value);
    }
  }

  @Override
  public int getLoginTimeout() {
    return loginTimeoutSeconds;
  }

  /** Limits the time to open a connection, in seconds; 0 leaves the limit to failoverTimeout. */
  @Override
  public void setLoginTimeout(int seconds) {
    loginTimeoutSeconds = seconds;
  }

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return logWriter;
  }

  /** Stores the writer but never writes to it: the driver logs through {@link System.Logger}. */
  @Override
  public void setLogWriter(@Nullable PrintWriter writer) {
    logWriter = writer;
  }

  /** Not supported: the driver logs through {@link System.Logger}, named dev.tollgate. */
  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException("The driver logs through System.Logger.");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return type.isInstance(this);
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    if (type.getName().equals("javax.sql.XADataSource")) {
      throw JdbcErrors.exception(
          SqlState.NOT_SUPPORTED,
          "A TollgateDataSource is no XADataSource, because Tollgate has no two-phase commit:"
              + " register it as the one non-XA resource of the transaction manager");
    }
    if (!type.isInstance(this)) {
      throw new SQLException("A TollgateDataSource is no " + type.getName());
    }
    return type.cast(this);
  }
}
