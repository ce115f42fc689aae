package dev.tollgate.migrations;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** The database that scripts change, on one connection, and how it refuses a former holder. */
interface Target extends AutoCloseable {
  /** The database of a connection, whose session is fenced by the lock from now on. */
  static Target of(Connection connection, MigrationLock lock) throws SQLException {
    return Database.isTollgate(connection)
        ? TollgateTarget.fence(connection, lock)
        : new OtherTarget(connection, lock);
  }

  /** Makes what the lock needs in this database. */
  void prepare() throws SQLException, MigrationException;

  /** Stands behind the columns of a table that only the holder of the lock may write. */
  String tableClause();

  /**
   * True if a definition commits what the transaction did before, so that the history says that it
   * was attempted before it can say that it is done.
   */
  boolean definitionsCommit();

  /**
   * True if {@link #define} makes one command of a definition and its mark. Otherwise a definition
   * that commits may have run or not if its run ends before the history says that it is done.
   */
  boolean marksDefinitions();

  /**
   * Runs a definition together with the mark that says that it is done: both take effect, or
   * neither does.
   *
   * @throws UnsupportedOperationException unless {@link #marksDefinitions}
   */
  default void define(String sql, RowUpdate mark) throws SQLException {
    throw new UnsupportedOperationException("definitions without marks");
  }

  /**
   * Has the server end a transaction whose client is silent for so long, where the server has such
   * a bound and none is set: a paused run keeps the next one waiting. Call it without a
   * transaction.
   */
  default void boundPauses(Duration most) throws SQLException {}

  /** Begins a transaction unless one is open; from then on no later holder can have written. */
  void begin() throws SQLException, MigrationException;

  /** Commits, if this run may still write. */
  void commit() throws SQLException, MigrationException;

  void rollback() throws SQLException;

  /**
   * Commits what the history says, and leaves transactions for one statement that cannot run in
   * one, if this run may still write. Tollgate needs no such thing.
   */
  void leaveTransaction() throws SQLException, MigrationException;

  /**
   * Before a statement that may commit, where definitions commit, in a transaction that says that
   * it is attempted: asks for the lock.
   *
   * @param opaque whether the statement may do so at any point, or go back behind what was done
   *     before
   */
  void beforeCommitting(boolean opaque) throws SQLException, MigrationException;

  /**
   * After such a statement, which may have left a transaction open or none: from then on a
   * transaction is open, and no later holder can have written.
   */
  void afterCommitting() throws SQLException, MigrationException;

  /** Leaves the connection as it was, without an open transaction, to other work. */
  void release() throws SQLException;

  Connection connection();

  /** Runs a statement of a script as it stands, without JDBC's escapes. */
  default void execute(String sql) throws SQLException {
    try (Statement statement = connection().createStatement()) {
      statement.setEscapeProcessing(false);
      statement.execute(sql);
    }
  }

  /** Ends the connection, and with it what is not committed; never fails. */
  @Override
  void close();
}
