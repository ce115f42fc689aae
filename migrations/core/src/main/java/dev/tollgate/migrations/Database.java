package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Map;
import java.util.Properties;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** Where connections come from. */
public interface Database {
  /** What the URLs of Tollgate begin with. */
  String TOLLGATE = "jdbc:tollgate:";

  /** A URL of JDBC, which tells Tollgate from other databases. */
  String url();

  /**
   * Opens a connection of its own, none from a pool.
   *
   * @param properties for the driver; what the URL says comes before them
   */
  Connection connect(Map<String, String> properties) throws SQLException, MigrationException;

  default boolean isTollgate() {
    return url().startsWith(TOLLGATE);
  }

  /** True if the connection is one to a Tollgate, whatever wraps it. */
  static boolean isTollgate(Connection connection) throws SQLException {
    String url = connection.getMetaData().getURL();
    return url != null && url.startsWith(TOLLGATE);
  }

  /** The URL without its properties, which may have a password. */
  default String shortUrl() {
    return url().replaceAll("[?;].*", "");
  }

  /** A database by its URL, with a driver on the class path. */
  static Database at(String url) {
    return at(url, Map.of(), Database.class.getClassLoader());
  }

  /**
   * A database by its URL.
   *
   * @param properties of each connection, such as user and password
   * @param drivers where drivers are looked for beside those of this application
   */
  static Database at(String url, Map<String, String> properties, ClassLoader drivers) {
    return new ByUrl(url, Map.copyOf(properties), drivers);
  }

  /** A database by its URL; its driver is one that DriverManager knows, or one of the loader's. */
  record ByUrl(String url, Map<String, String> properties, ClassLoader drivers)
      implements Database {
    public ByUrl {
      requireNonNull(url, "url");
      requireNonNull(drivers, "drivers");
      properties = Map.copyOf(properties);
    }

    @Override
    public Connection connect(Map<String, String> more) throws SQLException, MigrationException {
      Properties all = new Properties();
      all.putAll(more);
      all.putAll(properties);
      try {
        Connection connection = driver().connect(url, all);
        if (connection == null) {
          throw noDriver();
        }
        return connection;
      } catch (SQLException e) {
        if (DatabaseErrors.isOfSetting(e)) {
          throw new MigrationException(
              MigrationException.Reason.INPUT,
              "the URL " + shortUrl() + " or a setting beside it is wrong: " + e.getMessage(),
              e);
        }
        throw e;
      }
    }

    /** DriverManager does not hand out drivers of other class loaders. */
    private Driver driver() throws SQLException, MigrationException {
      try {
        for (Driver driver : ServiceLoader.load(Driver.class, drivers)) {
          if (driver.acceptsURL(url)) {
            return driver;
          }
        }
      } catch (ServiceConfigurationError e) {
        throw new MigrationException(
            MigrationException.Reason.INPUT,
            "a JDBC driver cannot be loaded: " + e.getMessage(),
            e);
      }
      for (Driver driver : Collections.list(DriverManager.getDrivers())) {
        if (driver.acceptsURL(url)) {
          return driver;
        }
      }
      throw noDriver();
    }

    private MigrationException noDriver() {
      return new MigrationException(
          MigrationException.Reason.INPUT,
          "no JDBC driver takes the URL " + shortUrl() + ": is its jar on the class path?");
    }

    @Override
    public String toString() {
      return shortUrl();
    }
  }
}
