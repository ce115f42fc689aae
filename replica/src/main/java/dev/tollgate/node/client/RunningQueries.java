package dev.tollgate.node.client;

import dev.tollgate.core.command.SessionId;
import dev.tollgate.store.SqlReader;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The query that each session runs at this node. A client cancels it by another connection.
 * Thread-safe.
 */
final class RunningQueries {
  private final Map<SessionId, SqlReader.Canceller> queries = new ConcurrentHashMap<>();

  void starts(SessionId session, SqlReader.Canceller query) {
    queries.put(session, query);
  }

  void ends(SessionId session, SqlReader.Canceller query) {
    queries.remove(session, query);
  }

  int size() {
    return queries.size();
  }

  /** Cancels the query that a session runs, if it runs one here. */
  void cancel(SessionId session) {
    SqlReader.Canceller query = queries.get(session);
    if (query != null) {
      query.cancel();
    }
  }
}
