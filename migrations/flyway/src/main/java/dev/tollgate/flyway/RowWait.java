package dev.tollgate.flyway;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.Configuration;
import org.flywaydb.core.internal.jdbc.DriverDataSource;
import org.jspecify.annotations.Nullable;

/**
 * How long a session waits for rows: longer than the transaction of a killed run lives. Connections
 * that Flyway opens by a URL have that in their properties; those of a DataSource are told while
 * they hold the lock.
 */
final class RowWait {
  /** The default of sessionTimeout, and an election. */
  private static final Duration OF_A_DATA_SOURCE = Duration.ofSeconds(60 + 15);

  private final boolean isToldHere;
  private @Nullable Integer beforeMillis;

  private RowWait(boolean isToldHere) {
    this.isToldHere = isToldHere;
  }

  /**
   * @param url of the session; a lockTimeout in it is what the application wants
   */
  static RowWait of(Configuration configuration, String url) {
    boolean isOpenedByUrl = configuration.getDataSource() instanceof DriverDataSource;
    return new RowWait(!isOpenedByUrl && !url.contains("lockTimeout="));
  }

  void begin(Connection session) {
    if (!isToldHere) {
      return;
    }
    try (Statement statement = session.createStatement();
        ResultSet row = statement.executeQuery("SELECT LOCK_TIMEOUT()")) {
      row.next();
      beforeMillis = row.getInt(1);
      set(session, (int) OF_A_DATA_SOURCE.toMillis());
    } catch (SQLException e) {
      throw new FlywayException("the lock timeout was not set: " + e.getMessage(), e);
    }
  }

  void end(Connection session) throws SQLException {
    if (beforeMillis != null) {
      set(session, beforeMillis);
      beforeMillis = null;
    }
  }

  private static void set(Connection session, int millis) throws SQLException {
    try (Statement statement = session.createStatement()) {
      statement.execute("SET LOCK_TIMEOUT " + millis);
    }
  }
}
