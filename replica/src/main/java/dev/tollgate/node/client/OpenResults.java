package dev.tollgate.node.client;

import dev.tollgate.store.SqlReader;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What the queries of one connection hold: results that are not fully fetched, and queries that
 * run. All of it ends with the connection. Thread-safe.
 */
final class OpenResults {
  /** Results that a connection may have open. */
  static final int MOST = 100;

  private final QueryTurns queries;
  private final QueryTurns shortWork;
  private final Map<Long, SqlReader.Cursor> cursors = new ConcurrentHashMap<>();
  private final Set<SqlReader.Canceller> running = ConcurrentHashMap.newKeySet();
  private final AtomicLong cursorIds = new AtomicLong();
  private volatile boolean closed;

  /**
   * @param atOnce queries of the connection that may run at a time; and plans and calls beside them
   */
  OpenResults(int atOnce) {
    queries = new QueryTurns(atOnce);
    shortWork = new QueryTurns(atOnce);
  }

  /** The turns of the connection's work: what is short does not wait for queries. */
  QueryTurns turns(Workers.Kind kind) {
    return switch (kind) {
      case QUERIES, LONG_PLANS -> queries;
      case PLANS, CALLS -> shortWork;
      case REHEARSALS, LONG_REHEARSALS, FILES, CHORES ->
          throw new IllegalArgumentException(kind + " have other turns");
    };
  }

  /** True if rows of results are still to be fetched. */
  boolean hasRows() {
    return !cursors.isEmpty();
  }

  boolean isFull() {
    return cursors.size() >= MOST;
  }

  long nextCursorId() {
    return cursorIds.incrementAndGet();
  }

  /** Keeps the rest of a result, if there is one. */
  void keep(long cursorId, SqlReader.Page page) {
    SqlReader.Cursor cursor = page.cursor();
    if (cursor != null) {
      cursors.put(cursorId, cursor);
      if (closed) {
        close(cursorId);
      }
    }
  }

  /** Takes the rest of a result out, to fetch from it; null if it is not here. */
  SqlReader.@Nullable Cursor take(long cursorId) {
    return cursors.remove(cursorId);
  }

  void close(long cursorId) {
    SqlReader.Cursor cursor = cursors.remove(cursorId);
    if (cursor != null) {
      cursor.close();
    }
  }

  /** Registers a query that ends with the connection, if not before. */
  void queryStarts(SqlReader.Canceller query) {
    running.add(query);
    if (closed) {
      query.cancel();
    }
  }

  void queryEnds(SqlReader.Canceller query) {
    running.remove(query);
  }

  /** Releases all results, and cancels the queries that run. */
  void close() {
    closed = true;
    queries.close();
    shortWork.close();
    running.forEach(SqlReader.Canceller::cancel);
    cursors.keySet().forEach(this::close);
  }
}
