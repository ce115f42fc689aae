package dev.tollgate.node.client;

import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.store.SqlReader;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the queries of one connection hold: results that are not fully fetched, and queries that
 * run. All of it ends with the connection. Thread-safe.
 */
final class OpenResults {
  /** Results that a connection may have open. */
  static final int MOST = 100;

  /** Statements of open results that a refusal names, the oldest first. */
  private static final int MOST_NAMED = 3;

  /** Characters of a statement that a refusal shows. */
  private static final int MOST_SHOWN_CHARS = 100;

  /**
   * A result whose rows are not all fetched.
   *
   * @param sql the query
   */
  record Rest(String sql, SqlReader.Cursor cursor) {}

  private final QueryTurns queries;
  private final QueryTurns shortWork;

  /** By number, and so in the order in which the results were opened. */
  private final SortedMap<Long, Rest> rests = new ConcurrentSkipListMap<>();

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
      case PLANS, CALLS, PASSWORDS -> shortWork;
      case REHEARSALS, LONG_REHEARSALS, WATCHES, FILES, CHORES ->
          throw new IllegalArgumentException(kind + " have other turns");
    };
  }

  /** True if rows of results are still to be fetched. */
  boolean hasRows() {
    return !rests.isEmpty();
  }

  boolean isFull() {
    return rests.size() >= MOST;
  }

  /**
   * Says which statements hold the results, and what to do. Statements have placeholders for
   * values, and those that differ in values only are one.
   */
  String describeFull() {
    Map<String, Integer> counts = new LinkedHashMap<>();
    rests.values().forEach(rest -> counts.merge(SqlFrontend.form(rest.sql()), 1, Integer::sum));
    String named =
        counts.entrySet().stream()
            .limit(MOST_NAMED)
            .map(count -> count.getValue() + " of " + shown(count.getKey()))
            .collect(Collectors.joining("; "));
    int others = counts.size() - MOST_NAMED;
    return "the connection has "
        + MOST
        + " results open that are not fetched to their end, the oldest first: "
        + named
        + (others > 0 ? "; and those of " + others + " other statements" : "")
        + ". Close each ResultSet or Statement after use, or fetch all rows at once with"
        + " fetchSize 0";
  }

  private static String shown(String form) {
    return form.length() <= MOST_SHOWN_CHARS ? form : form.substring(0, MOST_SHOWN_CHARS) + "...";
  }

  long nextCursorId() {
    return cursorIds.incrementAndGet();
  }

  /** Keeps the rest of the result of a query, if there is one. */
  void keep(long cursorId, String sql, SqlReader.Page page) {
    SqlReader.Cursor cursor = page.cursor();
    if (cursor != null) {
      rests.put(cursorId, new Rest(sql, cursor));
      if (closed) {
        close(cursorId);
      }
    }
  }

  /** Takes the rest of a result out, to fetch from it; null if it is not here. */
  @Nullable Rest take(long cursorId) {
    return rests.remove(cursorId);
  }

  void close(long cursorId) {
    Rest rest = rests.remove(cursorId);
    if (rest != null) {
      rest.cursor().close();
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
    List.copyOf(rests.keySet()).forEach(this::close);
  }
}
