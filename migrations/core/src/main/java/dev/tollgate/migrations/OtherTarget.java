package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * A database that knows nothing of the lock. Each transaction first raises the row of the fence.
 */
final class OtherTarget implements Target {
  private static final Logger LOG = System.getLogger("dev.tollgate.migrations");

  private final Connection connection;
  private final FenceRow fence;
  private final MigrationLock lock;
  private final boolean definitionsCommit;

  OtherTarget(Connection connection, MigrationLock lock) throws SQLException {
    this.connection = requireNonNull(connection, "connection");
    this.lock = requireNonNull(lock, "lock");
    this.fence = FenceRow.of(connection, lock);
    this.definitionsCommit = connection.getMetaData().dataDefinitionCausesTransactionCommit();
  }

  @Override
  public void prepare() throws SQLException, MigrationException {
    fence.prepare(connection);
  }

  @Override
  public String tableClause() {
    return "";
  }

  @Override
  public boolean definitionsCommit() {
    return definitionsCommit;
  }

  @Override
  public boolean marksDefinitions() {
    return false;
  }

  @Override
  public void boundPauses(Duration most) throws SQLException {
    String product = connection.getMetaData().getDatabaseProductName();
    if (product.equals("PostgreSQL")) {
      boundPauses(
          "SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'",
          "SET idle_in_transaction_session_timeout = " + most.toMillis());
    } else if (product.equals("MariaDB")) {
      boundPauses(
          "SELECT @@SESSION.idle_transaction_timeout",
          "SET idle_transaction_timeout = " + Math.max(1, most.toSeconds()));
    }
  }

  private void boundPauses(String query, String set) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      boolean unbounded;
      try (ResultSet row = statement.executeQuery(query)) {
        unbounded = row.next() && row.getLong(1) == 0;
      }
      if (unbounded) {
        statement.execute(set);
      }
    }
  }

  @Override
  public void begin() throws SQLException, MigrationException {
    if (connection.getAutoCommit()) {
      lock.assertHeld();
      connection.setAutoCommit(false);
      fence.raise(connection);
    }
  }

  /** A definition may have ended the transaction, and with it the wait of a later holder. */
  @Override
  public void commit() throws SQLException, MigrationException {
    if (definitionsCommit) {
      fence.raise(connection);
    }
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
    fence.raise(connection);
  }

  /** What is opaque may roll back, and the row of the fence has to be locked while it runs. */
  @Override
  public void beforeCommitting(boolean opaque) throws SQLException, MigrationException {
    if (opaque) {
      commit();
      begin();
    } else {
      lock.assertHeld();
    }
  }

  /** The server knows whether a transaction is open; a procedure may have changed that. */
  @Override
  public void afterCommitting() throws SQLException, MigrationException {
    lock.assertHeld();
    if (connection.getAutoCommit()) {
      connection.setAutoCommit(false);
    }
    fence.raise(connection);
  }

  @Override
  public void release() {}

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
