package dev.tollgate.store.statement;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.StampedLock;

/**
 * Keeps queries and definitions apart: many queries at a time, or one definition. A definition that
 * has waited for {@value #PATIENCE_MILLIS} ms cancels the queries that block it. Nothing is applied
 * while a definition waits, so definitions that follow each other share their patience: together
 * they wait for a tenth of the time. Changes of rows do not enter the gate: H2 keeps versions for
 * readers.
 */
public final class ReaderGate {
  private static final long PATIENCE_MILLIS = 500;
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);

  /** Patience comes back in so many times the time that was waited. */
  private static final int RECOVERY = 10;

  /** How often queries that do not end are canceled again. */
  private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Belongs to no thread: one thread begins a copy of the database, and another ends it. */
  private final StampedLock lock = new StampedLock();

  private final Map<Query, Long> inside = new ConcurrentHashMap<>();
  private long definition;

  /** What definitions may still wait for queries; only the definition that waits uses it. */
  private long patienceNanos = PATIENCE_NANOS;

  private long recoveredNanos = System.nanoTime();

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

  /** Waits until no query is inside; one thread at a time. */
  public void closeForDefinition() {
    boolean interrupted = false;
    long begun = System.nanoTime();
    patienceNanos = Math.min(PATIENCE_NANOS, patienceNanos + (begun - recoveredNanos) / RECOVERY);
    long wait = patienceNanos;
    long stamp = 0;
    while (stamp == 0) {
      try {
        stamp = lock.tryWriteLock(wait, TimeUnit.NANOSECONDS);
        if (stamp == 0) {
          inside.keySet().forEach(Query::cancelForDefinition);
          wait = AGAIN_NANOS;
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    recoveredNanos = System.nanoTime();
    patienceNanos = Math.max(0, patienceNanos - (recoveredNanos - begun));
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    definition = stamp;
  }

  public void open() {
    lock.unlockWrite(definition);
  }
}
