package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.jdbc.TollgateConnection;
import dev.tollgate.wire.SqlState;
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
    Connection connection = unused();
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

  /** A connection in which the run changes nothing of its user's, which could not be restored. */
  private Connection unused() throws SQLException {
    Connection connection = connections.forWork();
    boolean unused = false;
    try {
      requireUnused(connection.unwrap(TollgateConnection.class));
      unused = true;
      return connection;
    } finally {
      if (!unused) {
        connections.giveBack(connection);
      }
    }
  }

  private void requireUnused(TollgateConnection connection) throws SQLException {
    if (!connection.getAutoCommit() && connection.hasOpenTransaction()) {
      throw notRun(
          SqlState.ACTIVE_TRANSACTION,
          "in which a transaction is open, and the run would end it. Make the LockClient of the"
              + " target data source, and not of one that is bound to transactions, such as"
              + " TransactionAwareDataSourceProxy");
    }
    if (connection.isFenced()) {
      throw notRun(
          SqlState.FENCE_STATE,
          "that SET FENCED has fenced by another lock, and a session has one fence. Make the"
              + " LockClient of a data source without SET FENCED, or of a URL");
    }
  }

  private SQLException notRun(SqlState state, String lent) {
    return new SQLException(
        "the work under " + lock + " is not run: the data source has lent a connection " + lent,
        state.state(),
        state.vendorCode());
  }

  /**
   * Commits if the lock is held. If the cluster takes it away meanwhile, it refuses the commit of
   * whatever was written under the fence.
   */
  private void commit(Connection connection) throws SQLException {
    SQLException refused = refusal;
    if (refused != null && !LockCalls.holds(connection, lock.name(), lock.token())) {
      throw refused;
    }
    lock.assertHeld();
    connection.commit();
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
