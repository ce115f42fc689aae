package dev.tollgate.transport;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The connections that a session has left while a node at the other end still has rows for it. A
 * node that hands leadership over goes on, and gives the rows when it is asked for them.
 * Connections have the numbers that {@link SessionLink} gives them. Thread-safe.
 */
final class FormerConnections {
  /**
   * Connections of a session that are kept for rows; beyond them, the rows of the first are lost.
   */
  static final int MOST = 4;

  /** How many results of each connection are not fetched to their end; each at least one. */
  private final Map<Integer, Integer> openResults = new HashMap<>();

  private final Map<Integer, NodeConnection> kept = new LinkedHashMap<>();

  /** A result on this connection has more rows than were fetched. */
  synchronized void opened(int connection) {
    openResults.merge(connection, 1, Integer::sum);
  }

  /** The rows of a result are all fetched, or given up. */
  synchronized void ended(int connection) {
    openResults.computeIfPresent(connection, (number, count) -> count == 1 ? null : count - 1);
    if (!openResults.containsKey(connection)) {
      close(kept.remove(connection));
    }
  }

  /** True if results on this connection have more rows than were fetched. */
  synchronized boolean hasRows(int connection) {
    return openResults.containsKey(connection);
  }

  /** Takes a connection over that the session leaves: keeps it for rows, or closes it. */
  synchronized void left(int number, NodeConnection connection) {
    if (!openResults.containsKey(number)) {
      connection.close();
      return;
    }
    kept.put(number, connection);
    if (kept.size() > MOST) {
      Iterator<NodeConnection> inOrder = kept.values().iterator();
      inOrder.next().close();
      inOrder.remove();
    }
  }

  /** A connection that was left and kept, or null. */
  synchronized @Nullable NodeConnection find(int number) {
    return kept.get(number);
  }

  /** A connection that was kept is broken. */
  synchronized void broken(int number) {
    close(kept.remove(number));
  }

  /** Closes all; the rows are lost. */
  synchronized void close() {
    kept.values().forEach(NodeConnection::close);
    kept.clear();
  }

  private static void close(@Nullable NodeConnection connection) {
    if (connection != null) {
      connection.close();
    }
  }
}
