package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Connections of the application's pool, each for one request only. */
final class PooledConnections implements Connections {
  private static final Logger LOG = System.getLogger("dev.tollgate.lock");

  private final DataSource pool;

  PooledConnections(DataSource pool) {
    this.pool = requireNonNull(pool, "pool");
  }

  @Override
  public Connection forWaiting() throws SQLException {
    return pool.getConnection();
  }

  @Override
  public Connection forShortRequest() throws SQLException {
    return pool.getConnection();
  }

  @Override
  public void giveBack(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      LOG.log(Logger.Level.DEBUG, "a connection did not go back to its pool", e);
    }
  }

  /** Pools end an aborted connection instead of lending it again. */
  @Override
  public void discard(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      LOG.log(Logger.Level.DEBUG, "a connection was not aborted", e);
    }
    giveBack(connection);
  }

  @Override
  public void close() {}
}
