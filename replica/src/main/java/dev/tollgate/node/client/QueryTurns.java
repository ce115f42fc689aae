package dev.tollgate.node.client;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/**
 * What one connection wants done on other threads, of which only some runs at a time: the threads
 * for queries and for planning are few, and one connection must not take them all. Those that wait
 * are requests without an answer, of which a connection has a bounded number. Thread-safe.
 */
final class QueryTurns {
  /**
   * A query, or other work, that has not begun. Either method is called, once, and must not wait;
   * neither is called if the query is withdrawn before.
   */
  interface Query {
    /** Begins, which leads to one call of {@link #ended}. */
    void begin();

    /** The connection is closed. */
    void drop();
  }

  private final Queue<Query> waiting = new ArrayDeque<>();
  private int free;
  private boolean closed;

  QueryTurns(int atOnce) {
    free = atOnce;
  }

  /** Begins a query, now or when another one ends. */
  void take(Query query) {
    boolean drops;
    synchronized (this) {
      drops = closed;
      if (!drops && free == 0) {
        waiting.add(query);
        return;
      }
      if (!drops) {
        free--;
      }
    }
    if (drops) {
      query.drop();
    } else {
      query.begin();
    }
  }

  /** Takes out a query that waits; false if there is none, because it has begun or was dropped. */
  boolean withdraw(Query query) {
    synchronized (this) {
      return waiting.remove(query);
    }
  }

  /** A query has ended, so the next one begins. */
  void ended() {
    Query next;
    synchronized (this) {
      next = waiting.poll();
      if (next == null) {
        free++;
      }
    }
    if (next != null) {
      next.begin();
    }
  }

  /** Drops the queries that have not begun. */
  void close() {
    List<Query> dropped;
    synchronized (this) {
      closed = true;
      dropped = List.copyOf(waiting);
      waiting.clear();
    }
    dropped.forEach(Query::drop);
  }
}
