package dev.tollgate.store;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Keeps queries and definitions apart: many queries at a time, or one definition. A definition that
 * has waited for {@value #PATIENCE_MILLIS} ms cancels the queries that keep it out. Changes of rows
 * do not come here: H2 keeps versions for the readers.
 */
final class ReaderGate {
  private static final long PATIENCE_MILLIS = 500;

  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock(/* fair= */ true);
  private final Set<Query> inside = ConcurrentHashMap.newKeySet();

  /** A query that can be cancelled. */
  interface Query {
    /** Ends the query with an error as soon as possible; called from another thread. */
    void cancelForDefinition();
  }

  void enter(Query query) {
    lock.readLock().lock();
    inside.add(query);
  }

  void leave(Query query) {
    inside.remove(query);
    lock.readLock().unlock();
  }

  void closeForDefinition() {
    boolean interrupted = false;
    boolean closed = false;
    while (!closed) {
      try {
        closed = lock.writeLock().tryLock(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        if (!closed) {
          inside.forEach(Query::cancelForDefinition);
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  void open() {
    lock.writeLock().unlock();
  }
}
