package dev.tollgate.history;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * When a client gives up. Every other one loses patience in a failover, or for no reason at all: it
 * leaves what it asked for without an answer, and connects again.
 */
final class Patience {
  private static final String CLOSED = "90007";

  private final Connector cluster;
  private final boolean impatient;

  /** Connects to a cluster with these properties of the URL. */
  interface Connector {
    Connection connect(String properties) throws SQLException;
  }

  Patience(Connector cluster, int client) {
    this.cluster = cluster;
    this.impatient = client % 2 == 1;
  }

  boolean isImpatient() {
    return impatient;
  }

  /** A connection; empty if no node has answered in time. */
  Optional<Connection> connect() throws SQLException {
    try {
      return Optional.of(
          cluster.connect(
              impatient
                  ? "failoverTimeout=300ms&sessionTimeout=2s"
                  : "failoverTimeout=60s&lease=60s&lockWait=100ms"));
    } catch (SQLException e) {
      if (impatient && e.getSQLState().startsWith("08")) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Whether an impatient client has lost its connection, or has aborted it itself. */
  boolean isLost(SQLException e) {
    return impatient && (e.getSQLState().startsWith("08") || e.getSQLState().equals(CLOSED));
  }

  /** Leaves what is under way without its answer, about as often before as after it. */
  static void abortSoon(Connection connection, Random random) {
    Executor soon = CompletableFuture.delayedExecutor(random.nextInt(3_000), TimeUnit.MICROSECONDS);
    soon.execute(
        () -> {
          try {
            connection.abort(Runnable::run);
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        });
  }
}
