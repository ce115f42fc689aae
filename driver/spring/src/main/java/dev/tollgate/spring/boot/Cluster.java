package dev.tollgate.spring.boot;

import static java.util.Objects.requireNonNull;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.lock.LockClient;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;
import javax.sql.DataSource;

/** Where the beans of this package reach Tollgate. */
interface Cluster {
  LockClient newLockClient();

  /** A connection for one question; the caller closes it. */
  Connection open() throws SQLException;

  /** By a URL. */
  record OfUrl(String url, Properties properties, TollgateDriver driver) implements Cluster {
    @Override
    public LockClient newLockClient() {
      return LockClient.connect(url, properties);
    }

    @Override
    public Connection open() throws SQLException {
      return requireNonNull(driver.connect(url, properties), "connection");
    }

    /** Without the properties, of which one is the password. */
    @Override
    public String toString() {
      return url;
    }
  }

  /** By the pool of the application. */
  record OfDataSource(DataSource dataSource) implements Cluster {
    @Override
    public LockClient newLockClient() {
      return LockClient.of(dataSource);
    }

    @Override
    public Connection open() throws SQLException {
      return dataSource.getConnection();
    }
  }
}
