package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.PatientWait;
import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Connections of the application's pool, each for one request only. */
final class PooledConnections implements Connections {
  private static final Logger LOG = LockLog.LOG;

  private final DataSource pool;

  PooledConnections(DataSource pool) {
    this.pool = requireNonNull(pool, "pool");
  }

  @Override
  public Connection forWaiting() throws SQLException {
    return lend();
  }

  /** A pool may open a connection, or wait for one, in a way that an interrupt does not end. */
  @Override
  public @Nullable Connection forWaitingNow() {
    return null;
  }

  @Override
  public Connection forShortRequest() throws SQLException {
    return lend();
  }

  @Override
  public Connection forWork() throws SQLException {
    return lend();
  }

  /** Pools end a wait for a connection when its thread is interrupted. */
  private Connection lend() throws SQLException {
    return PatientWait.forAnswer(
        () -> {
          try {
            return ForeignCode.call(pool::getConnection);
          } catch (SQLException e) {
            LockRequest.requireNotInterrupted();
            throw e;
          }
        });
  }

  @Override
  public void giveBack(Connection connection) {
    try {
      ForeignCode.run(connection::close);
    } catch (SQLException e) {
      LOG.log(Logger.Level.DEBUG, "a connection did not go back to its pool", e);
    }
  }

  /** The pool closes what it has lent, and restores what it knows. It knows nothing of fences. */
  @Override
  public void giveBackAfterWork(Connection connection) {
    try {
      ForeignCode.run(() -> endFence(connection));
    } catch (SQLException e) {
      discard(connection);
      return;
    }
    giveBack(connection);
  }

  private static void endFence(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET NOT FENCED");
    }
  }

  /**
   * Ends the session, so that the next statement fails with 08006: that is how pools find out that
   * they must not lend the connection again.
   */
  @Override
  public void discard(Connection connection) {
    try {
      ForeignCode.run(
          () -> {
            connection.unwrap(ClusterSession.class).close();
            connection.createStatement().close();
          });
    } catch (SQLException e) {
      LOG.log(Logger.Level.DEBUG, "a connection was discarded: {0}", e.getMessage());
    }
    giveBack(connection);
  }

  @Override
  public void close() {}
}
