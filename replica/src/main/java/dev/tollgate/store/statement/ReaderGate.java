package dev.tollgate.store.statement;

import dev.tollgate.core.StalledError;
import dev.tollgate.core.command.Limits;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps queries and definitions apart: many queries at a time, or one definition. A definition that
 * has waited for {@value #PATIENCE_MILLIS} ms cancels the queries that block it. Nothing is applied
 * while a definition waits, so definitions that follow each other share their patience: together
 * they wait for a tenth of the time. Queries that come while a definition waits have to wait for
 * the definition. Changes of rows do not enter the gate: H2 keeps versions for readers.
 *
 * <p>The wait of a definition ends. It first cancels what can be repeated, after {@link
 * Limits#COPIES_MILLIS} everything, and after {@link Limits#APPLY_WAIT_MILLIS} the node.
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

  /**
   * Queries pass it on their way in, and a definition that waits keeps it closed: otherwise a query
   * would get in whenever the definition looks what blocks it, and would be canceled too.
   */
  private final StampedLock way = new StampedLock();

  private final Map<Query, Inside> inside = new ConcurrentHashMap<>();
  private final long endNanos;
  private final long stopNanos;
  private long definition;

  /** What definitions may still wait for queries; only the definition that waits uses it. */
  private long patienceNanos = PATIENCE_NANOS;

  private long recoveredNanos = System.nanoTime();

  /** A query that can be canceled. */
  public interface Query {
    /**
     * Ends the query with an error as soon as possible, unless definitions have to wait for it;
     * called from another thread.
     */
    void cancelForDefinition();

    /** Ends the query with an error as soon as possible, in any case. */
    default void endForDefinition() {
      cancelForDefinition();
    }
  }

  /** A query within the gate, and the thread that brought it. */
  private record Inside(long stamp, Thread thread) {}

  public ReaderGate() {
    this(Limits.COPIES_MILLIS, Limits.APPLY_WAIT_MILLIS);
  }

  /**
   * @param endMillis after how long a definition ends everything
   * @param stopMillis after how long it gives up
   */
  public ReaderGate(long endMillis, long stopMillis) {
    endNanos = TimeUnit.MILLISECONDS.toNanos(endMillis);
    stopNanos = TimeUnit.MILLISECONDS.toNanos(stopMillis);
  }

  public void enter(Query query) {
    long pass = way.readLock();
    try {
      inside.put(query, new Inside(lock.readLock(), Thread.currentThread()));
    } finally {
      way.unlockRead(pass);
    }
  }

  public void leave(Query query) {
    Inside left = inside.remove(query);
    if (left == null) {
      throw new IllegalStateException("the query has not entered");
    }
    lock.unlockRead(left.stamp());
  }

  /**
   * Waits until no query is inside; one thread at a time.
   *
   * @throws StalledError if a query does not end although it was told to
   */
  public void closeForDefinition() {
    long pass = way.writeLock();
    try {
      close();
    } finally {
      way.unlockWrite(pass);
    }
  }

  private void close() {
    boolean interrupted = false;
    long begun = System.nanoTime();
    patienceNanos = Math.min(PATIENCE_NANOS, patienceNanos + (begun - recoveredNanos) / RECOVERY);
    long wait = patienceNanos;
    long stamp = 0;
    while (stamp == 0) {
      try {
        stamp = lock.tryWriteLock(wait, TimeUnit.NANOSECONDS);
        if (stamp == 0) {
          makeWay(System.nanoTime() - begun);
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

  private void makeWay(long waitedNanos) {
    if (waitedNanos >= stopNanos) {
      throw new StalledError(
          inside.size() + " queries and copies of the state, which a definition has canceled",
          TimeUnit.NANOSECONDS.toMillis(waitedNanos),
          ThreadStack.of(threadInside()));
    }
    inside
        .keySet()
        .forEach(waitedNanos >= endNanos ? Query::endForDefinition : Query::cancelForDefinition);
  }

  /** A thread with a query inside, or null: a copy was brought by the apply thread itself. */
  private @Nullable Thread threadInside() {
    for (Inside query : inside.values()) {
      if (query.thread() != Thread.currentThread()) {
        return query.thread();
      }
    }
    return null;
  }

  public void open() {
    lock.unlockWrite(definition);
  }
}
