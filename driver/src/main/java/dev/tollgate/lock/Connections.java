package dev.tollgate.lock;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Where the requests of a client get their connections. Thread-safe. */
interface Connections extends AutoCloseable {
  /** A connection for a request that may wait for a lock for as long as it takes. */
  Connection forWaiting() throws SQLException;

  /** As {@link #forWaiting}, without anything to wait for; null if there is no such connection. */
  @Nullable Connection forWaitingNow() throws SQLException;

  /** A connection for a request that is answered at once. */
  Connection forShortRequest() throws SQLException;

  /** A connection for work under a lock. */
  Connection forWork() throws SQLException;

  /** Takes a connection back that is as it was. */
  void giveBack(Connection connection);

  /**
   * Takes a fenced connection back that foreign code has used, and cannot use any more; it is in no
   * transaction.
   */
  void giveBackAfterWork(Connection connection);

  /**
   * A request on a connection has failed. If it found no node, others need not look for one after
   * it.
   *
   * @param sentNanos when it was sent, as of {@link System#nanoTime}
   */
  default void failed(long sentNanos, SQLException failure) {}

  /** Ends a connection in which something of a request may be left. */
  void discard(Connection connection);

  @Override
  void close();
}
