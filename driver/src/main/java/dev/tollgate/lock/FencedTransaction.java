package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A transaction that writes and commits only under the token of a lock. Runs once. */
final class FencedTransaction {
  private final HeldLock lock;
  private final Connections connections;
  private @Nullable SQLException refusal;

  FencedTransaction(HeldLock lock, Connections connections) {
    this.lock = requireNonNull(lock, "lock");
    this.connections = requireNonNull(connections, "connections");
  }

  /**
   * Runs the work, and rolls back if it throws anything. The connection goes back when nobody else
   * can use it any more: its calls are cut off before the transaction ends.
   */
  <R, E extends Exception> R run(FencedWork<R, E> work) throws SQLException, E {
    Connection connection = connections.forWork();
    WorkConnection lent = new WorkConnection("the work under " + lock, connection);
    boolean ended = false;
    try {
      boolean autoCommit = connection.getAutoCommit();
      fence(connection);
      connection.setAutoCommit(false);
      try {
        R result = work.on(lent.lent());
        lent.end();
        refusal = lent.refusal();
        commit(connection);
        ended = true;
        return result;
      } catch (Throwable e) {
        boolean cut = lent.cut();
        refusal = refusalIn(e, lent);
        ended = cut && rolledBack(connection, e);
        throw e;
      } finally {
        // a change of autocommit would commit
        ended = ended && !lent.isUnwrapped() && restore(connection, autoCommit);
      }
    } finally {
      if (ended) {
        connections.giveBackAfterWork(connection);
      } else {
        connections.discard(connection);
      }
    }
  }

  /**
   * Commits if the lock is held. If it was taken away, the cluster refuses the commit of whatever
   * was written, and gives its reason; without a write, the driver does not even ask.
   */
  private void commit(Connection connection) throws SQLException {
    SQLException refused = refusal;
    if (refused != null && !LockCalls.holds(connection, lock.name(), lock.token())) {
      throw refused;
    }
    boolean held = lock.assertNotEnded();
    connection.commit();
    if (!held) {
      lock.assertHeld();
    }
  }

  /**
   * Why the cluster has refused a token in the work: the cause of the failure, or what the work has
   * swallowed. Null if it has refused none.
   */
  @Nullable SQLException refusal() {
    return refusal;
  }

  private static @Nullable SQLException refusalIn(Throwable failure, WorkConnection lent) {
    SQLException thrown = RefusedToken.in(failure);
    return thrown == null ? lent.refusal() : thrown;
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
