package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * A database that knows nothing of the lock. Table tollgate_fence has the highest token that wrote
 * under each lock. A transaction first raises it to its own token, which fails if a later holder
 * has written, and keeps later holders waiting until it has ended.
 */
final class OtherTarget implements Target {
  private static final Logger LOG = System.getLogger("dev.tollgate.migrations");
  private static final String FENCE = "tollgate_fence";

  private final Connection connection;
  private final History history;
  private final MigrationLock lock;
  private final boolean definitionsCommit;

  OtherTarget(Connection connection, History history, MigrationLock lock) throws SQLException {
    this.connection = requireNonNull(connection, "connection");
    this.history = requireNonNull(history, "history");
    this.lock = requireNonNull(lock, "lock");
    this.definitionsCommit = connection.getMetaData().dataDefinitionCausesTransactionCommit();
  }

  @Override
  public History history() {
    return history;
  }

  @Override
  public void prepare() throws SQLException, MigrationException {
    lock.assertHeld();
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE IF NOT EXISTS "
              + fence()
              + "(name VARCHAR(200) PRIMARY KEY, token BIGINT NOT NULL)");
    }
    if (!hasFenceRow()) {
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO " + fence() + "(name, token) VALUES (?, ?)")) {
        insert.setString(1, lock.name());
        insert.setLong(2, lock.token());
        insert.executeUpdate();
      }
    }
    raiseFence();
    if (!history.exists()) {
      history.create("");
    }
  }

  private String fence() {
    return history.inSameSchema(FENCE);
  }

  private boolean hasFenceRow() throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT token FROM " + fence() + " WHERE name = ?")) {
      query.setString(1, lock.name());
      try (ResultSet row = query.executeQuery()) {
        return row.next();
      }
    }
  }

  private void raiseFence() throws SQLException, MigrationException {
    try (PreparedStatement raise =
        connection.prepareStatement(
            "UPDATE " + fence() + " SET token = ? WHERE name = ? AND token <= ?")) {
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

  @Override
  public boolean definitionsCommit() {
    return definitionsCommit;
  }

  @Override
  public @Nullable String definitions() {
    return null;
  }

  @Override
  public void begin() throws SQLException, MigrationException {
    if (connection.getAutoCommit()) {
      lock.assertHeld();
      connection.setAutoCommit(false);
      raiseFence();
    }
  }

  @Override
  public void commit() throws SQLException, MigrationException {
    lock.assertHeld();
    connection.commit();
    connection.setAutoCommit(true);
  }

  @Override
  public void rollback() throws SQLException {
    if (!connection.getAutoCommit()) {
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  @Override
  public void leaveTransaction() throws SQLException, MigrationException {
    commit();
    raiseFence();
  }

  @Override
  public void afterDefinition() throws SQLException {
    connection.setAutoCommit(true);
  }

  @Override
  public Connection connection() {
    return connection;
  }

  /** Some databases commit what is open when a connection closes. */
  @Override
  public void close() {
    try (connection) {
      rollback();
    } catch (SQLException e) {
      LOG.log(Logger.Level.DEBUG, "the connection of the run did not close", e);
    }
  }
}
