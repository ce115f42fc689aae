package dev.tollgate.liquibase;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import liquibase.database.Database;
import liquibase.lockservice.DatabaseChangeLogLock;

/**
 * The lock of a change log, and the Tollgate that keeps it: the database itself, or for another
 * database the one that the settings name.
 *
 * @param keeper opens connections of their own
 */
record LockCluster(dev.tollgate.migrations.Database keeper, String lock, Duration lease) {
  LockCluster {
    requireNonNull(keeper, "keeper");
    requireNonNull(lock, "lock");
    requireNonNull(lease, "lease");
  }

  /** The lock of the change log of a database. */
  static LockCluster of(Database database) throws SQLException {
    boolean tollgate = database instanceof TollgateDatabase;
    String url =
        tollgate
            ? Jdbc.connection(database).getMetaData().getURL()
            : requireNonNull(LockConfiguration.URL.getCurrentValue(), "tollgate.lock.url");
    String name = LockConfiguration.NAME.getCurrentValue();
    return new LockCluster(
        dev.tollgate.migrations.Database.at(url, Map.of(), LockCluster.class.getClassLoader()),
        name == null ? defaultName(database, tollgate) : name,
        Duration.ofSeconds(LockConfiguration.LEASE_SECONDS.getCurrentValue()));
  }

  /** One Tollgate may keep the locks of many databases, so the name says which one. */
  private static String defaultName(Database database, boolean tollgate) {
    return Stream.of(
            tollgate ? null : database.getLiquibaseCatalogName(),
            database.getLiquibaseSchemaName(),
            database.getDatabaseChangeLogTableName())
        .filter(part -> part != null && !part.isEmpty())
        .collect(Collectors.joining(".", "liquibase:", ""));
  }

  /** Waits in line for the lock. */
  MigrationLock acquire(Duration wait) throws MigrationException {
    return MigrationLock.acquire(keeper, lock, lease, wait);
  }

  /** The holds of the lock: none or one. */
  DatabaseChangeLogLock[] holds() throws SQLException, MigrationException {
    List<DatabaseChangeLogLock> holds = new ArrayList<>();
    try (Connection connection = keeper.connect(Map.of());
        PreparedStatement query =
            connection.prepareStatement(
                "SELECT TOKEN, HELD_SINCE, OWNER, CLIENT_HOST, CLIENT_PROCESS FROM TOLLGATE.LOCKS"
                    + " WHERE LOCK_NAME = ?")) {
      query.setString(1, lock);
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          holds.add(
              new DatabaseChangeLogLock(
                  holds.size() + 1,
                  row.getTimestamp("HELD_SINCE"),
                  "lock '" + lock + "', token " + row.getLong("TOKEN") + ", " + holder(row)));
        }
      }
    }
    return holds.toArray(DatabaseChangeLogLock[]::new);
  }

  private static String holder(ResultSet row) throws SQLException {
    String process = row.getString("CLIENT_PROCESS");
    String host = row.getString("CLIENT_HOST");
    return "owner "
        + row.getString("OWNER")
        + (host == null ? "" : ", host " + host)
        + (process == null ? "" : ", process " + process);
  }

  /** Takes the lock away from its holder, whose next statement is then refused. */
  boolean release() throws SQLException, MigrationException {
    try (Connection connection = keeper.connect(Map.of());
        PreparedStatement release = connection.prepareStatement("SELECT force_release_lock(?)")) {
      release.setString(1, lock);
      try (ResultSet row = release.executeQuery()) {
        return row.next() && row.getBoolean(1);
      }
    }
  }
}
