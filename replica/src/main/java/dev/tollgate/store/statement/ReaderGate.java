package dev.tollgate.store.statement;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.StampedLock;

/**
 * Keeps queries and definitions apart: many queries at a time, or one definition. A definition that
 * has waited for {@value #PATIENCE_MILLIS} ms cancels the queries that block it. Changes of rows do
 * not enter the gate: H2 keeps versions for readers.
 */
public final class ReaderGate {
  private static final long PATIENCE_MILLIS = 500;

  /** Belongs to no thread: one thread begins a copy of the database, and another ends it. */
  private final StampedLock lock = new StampedLock();

  private final Map<Query, Long> inside = new ConcurrentHashMap<>();
  private long definition;

  /** A query that can be canceled. */
  public interface Query {
    /** Ends the query with an error as soon as possible; called from another thread. */
    void cancelForDefinition();
  }

  public void enter(Query query) {
    inside.put(query, lock.readLock());
  }

  public void leave(Query query) {
    Long stamp = inside.remove(query);
    if (stamp == null) {
      throw new IllegalStateException("the query has not entered");
    }
    lock.unlockRead(stamp);
  }

  public void closeForDefinition() {
    boolean interrupted = false;
    long stamp = 0;
    while (stamp == 0) {
      try {
        stamp = lock.tryWriteLock(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        if (stamp == 0) {
          inside.keySet().forEach(Query::cancelForDefinition);
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    definition = stamp;
  }

  public void open() {
    lock.unlockWrite(definition);
  }
}
