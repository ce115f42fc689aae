package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** A transaction that writes and commits only under the token of a lock. */
final class FencedTransaction {
  private final HeldLock lock;
  private final Connections connections;

  FencedTransaction(HeldLock lock, Connections connections) {
    this.lock = requireNonNull(lock, "lock");
    this.connections = requireNonNull(connections, "connections");
  }

  <R, E extends Exception> R run(FencedWork<R, E> work) throws SQLException, E {
    Connection connection = connections.forWaiting();
    boolean ended = false;
    try {
      boolean autoCommit = connection.getAutoCommit();
      fence(connection);
      connection.setAutoCommit(false);
      try {
        R result = work.on(connection);
        lock.assertMayCommit();
        connection.commit();
        ended = true;
        return result;
      } catch (Throwable e) {
        ended = rolledBack(connection, e);
        throw e;
      } finally {
        // a change of autocommit would commit
        ended = ended && restore(connection, autoCommit);
      }
    } finally {
      if (ended) {
        connections.giveBackAfterWork(connection);
      } else {
        connections.discard(connection);
      }
    }
  }

  private static boolean rolledBack(Connection connection, Throwable cause) {
    try {
      connection.rollback();
      return true;
    } catch (SQLException e) {
      cause.addSuppressed(e);
      return false;
    }
  }

  private static boolean restore(Connection connection, boolean autoCommit) {
    try {
      connection.setAutoCommit(autoCommit);
      return true;
    } catch (SQLException e) {
      return false;
    }
  }

  private void fence(Connection connection) throws SQLException {
    try (PreparedStatement fence = connection.prepareStatement("SET FENCED BY LOCK ? TOKEN ?")) {
      fence.setString(1, lock.name());
      fence.setLong(2, lock.token());
      fence.execute();
    }
  }
}
