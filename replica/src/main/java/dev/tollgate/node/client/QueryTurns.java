package dev.tollgate.node.client;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The queries of one connection, of which only some run at a time: the threads for queries are few,
 * and one connection must not take them all. Those that wait are requests without an answer, of
 * which a connection has a bounded number. Thread-safe.
 */
final class QueryTurns {
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private int free;

  QueryTurns(int atOnce) {
    free = atOnce;
  }

  /**
   * Begins a query, now or when another one ends.
   *
   * @param query must not wait, and leads to one call of {@link #ended}
   */
  void begin(Runnable query) {
    synchronized (this) {
      if (free == 0) {
        waiting.add(query);
        return;
      }
      free--;
    }
    query.run();
  }

  /** A query has ended, so the next one begins. */
  void ended() {
    Runnable next = next();
    if (next != null) {
      next.run();
    }
  }

  private synchronized @Nullable Runnable next() {
    Runnable next = waiting.poll();
    if (next == null) {
      free++;
    }
    return next;
  }
}
