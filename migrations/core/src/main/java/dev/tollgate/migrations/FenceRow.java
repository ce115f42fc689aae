package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The row of a lock in table tollgate_fence of a database that knows nothing of the lock. The row
 * has the highest token that has written under the lock.
 *
 * <p>A transaction that begins with {@link #raise} fails if a later holder of the lock has written.
 * It keeps the row locked, so a later holder waits until the transaction has ended.
 */
public final class FenceRow {
  public static final String TABLE = "tollgate_fence";

  private static final String COLUMNS = "(name VARCHAR(200) PRIMARY KEY, token BIGINT NOT NULL)";

  private final SchemaTable table;
  private final MigrationLock lock;

  private FenceRow(SchemaTable table, MigrationLock lock) {
    this.table = requireNonNull(table, "table");
    this.lock = requireNonNull(lock, "lock");
  }

  /** The row of the lock in the schema that the connection has now. */
  public static FenceRow of(Connection connection, MigrationLock lock) throws SQLException {
    return new FenceRow(SchemaTable.of(connection, TABLE), lock);
  }

  /**
   * Makes the table and the row unless they are there.
   *
   * @param connection without an open transaction
   */
  public void prepare(Connection connection) throws SQLException, MigrationException {
    lock.assertHeld();
    table.create(connection, COLUMNS);
    if (!isThere(connection)) {
      insert(connection);
    }
    raise(connection);
  }

  private void insert(Connection connection) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO " + table.qualified() + "(name, token) VALUES (?, ?)")) {
      insert.setString(1, lock.name());
      insert.setLong(2, lock.token());
      insert.executeUpdate();
    } catch (SQLException e) {
      if (!isThere(connection)) {
        throw e;
      }
    }
  }

  private boolean isThere(Connection connection) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT token FROM " + table.qualified() + " WHERE name = ?")) {
      query.setString(1, lock.name());
      try (ResultSet row = query.executeQuery()) {
        return row.next();
      }
    }
  }

  /**
   * Raises the row to the token of the lock, which waits for a transaction of another holder that
   * is still open. In autocommit this is a check and no more: nothing keeps later holders waiting.
   *
   * @throws MigrationException with LOCK_LOST if a later holder has written
   */
  public void raise(Connection connection) throws SQLException, MigrationException {
    try (PreparedStatement raise =
        connection.prepareStatement(
            "UPDATE " + table.qualified() + " SET token = ? WHERE name = ? AND token <= ?")) {
      raise.setLong(1, lock.token());
      raise.setString(2, lock.name());
      raise.setLong(3, lock.token());
      if (raise.executeUpdate() == 0) {
        throw new MigrationException(
            MigrationException.Reason.LOCK_LOST,
            "a later holder of lock '"
                + lock.name()
                + "' has written to this database, so token "
                + lock.token()
                + " is stale; run again to see what is left to do");
      }
    }
  }
}
