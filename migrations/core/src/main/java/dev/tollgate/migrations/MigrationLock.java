package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * The lock of a run, on a connection of its own. The driver renews the lease of that connection in
 * the background; a process that is paused for longer loses the lock, and closing the connection
 * ends the lease.
 *
 * <p>Not thread-safe.
 */
public final class MigrationLock implements AutoCloseable {
  private static final Logger LOG = System.getLogger("dev.tollgate.migrations");

  private final Connection connection;
  private final String name;
  private final long token;

  private MigrationLock(Connection connection, String name, long token) {
    this.connection = requireNonNull(connection, "connection");
    this.name = requireNonNull(name, "name");
    this.token = token;
  }

  /**
   * Waits in line for a lock.
   *
   * @param tollgate the cluster that keeps the lock
   * @param lease how long the lock outlives this process; a {@code lease} in the URL comes first
   * @param wait how long to wait for another run; at most an hour
   */
  public static MigrationLock acquire(Database tollgate, String name, Duration lease, Duration wait)
      throws MigrationException {
    Connection connection = connect(tollgate, lease, wait);
    try {
      Optional<Long> token = acquire(connection, name);
      if (token.isPresent()) {
        return new MigrationLock(connection, name, token.get());
      }
      String holder = holder(connection, name);
      close(connection);
      throw new MigrationException(
          MigrationException.Reason.LOCK_BUSY,
          "lock '" + name + "' was not free for " + wait.toSeconds() + " s" + holder);
    } catch (SQLException e) {
      close(connection);
      throw DatabaseErrors.failure("lock '" + name + "' was not taken", e);
    }
  }

  private static Connection connect(Database tollgate, Duration lease, Duration wait)
      throws MigrationException {
    try {
      return tollgate.connect(
          Map.of("lease", lease.toMillis() + "ms", "lockWait", wait.toMillis() + "ms"));
    } catch (SQLException e) {
      throw DatabaseErrors.failure("no connection for the lock", e);
    }
  }

  private static Optional<Long> acquire(Connection connection, String name) throws SQLException {
    try (PreparedStatement acquire = connection.prepareStatement("SELECT acquire_lock(?)")) {
      acquire.setString(1, name);
      try (ResultSet row = acquire.executeQuery()) {
        row.next();
        long token = row.getLong(1);
        return row.wasNull() ? Optional.empty() : Optional.of(token);
      }
    }
  }

  private static String holder(Connection connection, String name) throws SQLException {
    try (PreparedStatement locks =
        connection.prepareStatement(
            "SELECT OWNER, TOKEN FROM TOLLGATE.LOCKS WHERE LOCK_NAME = ?")) {
      locks.setString(1, name);
      try (ResultSet row = locks.executeQuery()) {
        return row.next()
            ? ": " + row.getString(1) + " holds it under token " + row.getLong(2)
            : "";
      }
    }
  }

  public String name() {
    return name;
  }

  /**
   * What stands behind CREATE TABLE or ALTER TABLE of Tollgate, so that only the holder of a lock
   * writes the table.
   */
  public static String fenceClause(String lockName) {
    return " FENCED BY LOCK '" + lockName.replace("'", "''") + "'";
  }

  /** The token under which the lock was granted; later grants have higher ones. */
  public long token() {
    return token;
  }

  /**
   * Asks the cluster, in one round trip, whether the lock is still held. A cluster that does not
   * answer cannot confirm it, so the run may not go on either.
   */
  public void assertHeld() throws MigrationException {
    try (PreparedStatement holds = connection.prepareStatement("SELECT holds_lock(?, ?)")) {
      holds.setString(1, name);
      holds.setLong(2, token);
      try (ResultSet row = holds.executeQuery()) {
        if (!row.next() || !row.getBoolean(1)) {
          throw lost();
        }
      }
    } catch (SQLException e) {
      throw new MigrationException(
          DatabaseErrors.isUnreachable(e)
              ? MigrationException.Reason.UNREACHABLE
              : MigrationException.Reason.LOCK_LOST,
          "lock '"
              + name
              + "' cannot be confirmed under token "
              + token
              + ": "
              + DatabaseErrors.describe(e),
          e);
    }
  }

  private MigrationException lost() {
    return new MigrationException(
        MigrationException.Reason.LOCK_LOST,
        "lock '"
            + name
            + "' is no longer held under token "
            + token
            + ": another run may be at work; run again to see what is left to do");
  }

  /** Releases the lock. A failure is logged: the lease expires by itself. */
  @Override
  public void close() {
    close(connection);
  }

  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      LOG.log(
          Logger.Level.WARNING, "the lock is released when its lease expires: " + e.getMessage());
    }
  }
}
