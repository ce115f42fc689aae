package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/** A transaction that writes and commits only under the token of a lock. */
final class FencedTransaction {
  private final HeldLock lock;
  private final Connections connections;

  FencedTransaction(HeldLock lock, Connections connections) {
    this.lock = requireNonNull(lock, "lock");
    this.connections = requireNonNull(connections, "connections");
  }

  <R> R run(FencedWork<R> work) throws SQLException {
    Connection connection = connections.forWaiting();
    boolean whole = false;
    try {
      boolean autoCommit = connection.getAutoCommit();
      fence(connection);
      try {
        return commit(connection, work);
      } finally {
        whole = restore(connection, autoCommit);
      }
    } finally {
      if (whole) {
        connections.giveBack(connection);
      } else {
        connections.discard(connection);
      }
    }
  }

  /** Returns true if nothing is left in the connection of what was done. */
  private static boolean restore(Connection connection, boolean autoCommit) {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET NOT FENCED");
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

  private <R> R commit(Connection connection, FencedWork<R> work) throws SQLException {
    connection.setAutoCommit(false);
    try {
      R result = work.on(connection);
      lock.assertHeld();
      connection.commit();
      return result;
    } catch (SQLException | RuntimeException | Error e) {
      try {
        connection.rollback();
      } catch (SQLException rollback) {
        e.addSuppressed(rollback);
      }
      throw e;
    }
  }
}
