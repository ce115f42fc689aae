package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Tollgate itself, which keeps the lock too. Its session is fenced by the lock, so every write is
 * checked where it is applied, and so is every commit. This class has nothing to check.
 */
final class TollgateTarget implements Target {
  private static final Logger LOG = System.getLogger("dev.tollgate.migrations");

  private final Connection connection;
  private final MigrationLock lock;

  private TollgateTarget(Connection connection, MigrationLock lock) {
    this.connection = requireNonNull(connection, "connection");
    this.lock = requireNonNull(lock, "lock");
  }

  /** Fences the session of a connection. */
  static TollgateTarget fence(Connection connection, MigrationLock lock) throws SQLException {
    FencedSession.fence(connection, lock);
    return new TollgateTarget(connection, lock);
  }

  @Override
  public void prepare() {}

  @Override
  public String tableClause() {
    return MigrationLock.fenceClause(lock.name());
  }

  @Override
  public boolean definitionsCommit() {
    return true;
  }

  @Override
  public boolean marksDefinitions() {
    return true;
  }

  @Override
  public void define(String sql, RowUpdate mark) throws SQLException {
    mark.goWith(connection, sql);
    try {
      execute(sql);
    } catch (SQLException e) {
      RowUpdate.forget(connection, e);
      throw e;
    }
    if (!RowUpdate.wasSent(connection)) {
      // the statement was no definition, so it stands in the open transaction
      mark.execute(connection);
      connection.commit();
    }
  }

  @Override
  public void begin() throws SQLException {
    connection.setAutoCommit(false);
  }

  @Override
  public void commit() throws SQLException {
    connection.commit();
  }

  @Override
  public void release() throws SQLException {
    connection.setAutoCommit(true);
    FencedSession.release(connection);
  }

  @Override
  public void rollback() throws SQLException {
    if (!connection.getAutoCommit()) {
      connection.rollback();
    }
  }

  @Override
  public void leaveTransaction() {}

  @Override
  public void beforeCommitting(boolean opaque) {}

  @Override
  public void afterCommitting() {}

  @Override
  public Connection connection() {
    return connection;
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      LOG.log(Logger.Level.DEBUG, "the session of the run ends by itself", e);
    }
  }
}
