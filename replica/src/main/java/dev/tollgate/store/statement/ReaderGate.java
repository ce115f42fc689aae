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
 * has waited for {@link Limits#DEFINITION_PATIENCE_MILLIS} cancels the queries that block it, and
 * they run again. It waits longer for queries that a definition has canceled before: for {@link
 * Limits#DEFINITION_REPEATED_PATIENCE_MILLIS} more if that time is there as a whole, because less
 * would not add up to what a query needs. Nothing is applied while a definition waits, so
 * definitions that follow each other share their patience: together they wait for a tenth of the
 * time for either. Queries that come while a definition waits have to wait for the definition.
 * Changes of rows do not enter the gate: H2 keeps versions for readers.
 *
 * <p>The wait of a definition ends. It first cancels what can be repeated, after {@link
 * Limits#COPIES_MILLIS} everything, and after {@link Limits#APPLY_WAIT_MILLIS} the node.
 */
public final class ReaderGate {
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

  /** For queries that no definition has canceled before. */
  private final Patience patience = new Patience(Limits.DEFINITION_PATIENCE_MILLIS);

  /** For queries that run again. */
  private final Patience repeated = new Patience(Limits.DEFINITION_REPEATED_PATIENCE_MILLIS);

  /**
   * What definitions may still wait for queries; only the definition that waits uses it. Patience
   * comes back, and not while a definition waits.
   */
  private static final class Patience {
    private final long mostNanos;
    private long leftNanos;
    private long recoveredNanos = System.nanoTime();

    Patience(long mostMillis) {
      mostNanos = TimeUnit.MILLISECONDS.toNanos(mostMillis);
      leftNanos = mostNanos;
    }

    /** What a definition may wait that begins to wait now. */
    long left(long nowNanos) {
      long back = (nowNanos - recoveredNanos) / Limits.DEFINITION_PATIENCE_RECOVERY;
      leftNanos = Math.min(mostNanos, leftNanos + back);
      return leftNanos;
    }

    /** All of it, or nothing: what comes back is kept until it is whole. */
    long wholeOrNone(long nowNanos) {
      return left(nowNanos) == mostNanos ? mostNanos : 0;
    }

    void waited(long waitedNanos, long nowNanos) {
      recoveredNanos = nowNanos;
      leftNanos = Math.max(0, leftNanos - Math.max(0, waitedNanos));
    }
  }

  /** A query that can be canceled. */
  public interface Query {
    /**
     * Ends the query with an error as soon as possible, unless definitions have to wait for it;
     * called from another thread.
     */
    void cancelForDefinition();

    /** True if a definition has ended the query before, and it runs again. */
    default boolean runsAgain() {
      return false;
    }

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
    long first = patience.left(begun);
    long last = first + repeated.wholeOrNone(begun);
    long wait = first;
    boolean spared = false;
    long stamp = 0;
    while (stamp == 0) {
      try {
        stamp = lock.tryWriteLock(wait, TimeUnit.NANOSECONDS);
        if (stamp == 0) {
          long waited = System.nanoTime() - begun;
          spared |= makeWay(waited, waited >= last);
          wait = waited < last ? Math.min(AGAIN_NANOS, last - waited) : AGAIN_NANOS;
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    long now = System.nanoTime();
    patience.waited(now - begun, now);
    repeated.waited(spared ? now - begun - first : 0, now);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    definition = stamp;
  }

  /**
   * @param all whether to cancel queries that run again as well
   * @return true if it spared one that runs again
   */
  private boolean makeWay(long waitedNanos, boolean all) {
    if (waitedNanos >= stopNanos) {
      throw new StalledError(
          inside.size() + " queries and copies of the state, which a definition has canceled",
          TimeUnit.NANOSECONDS.toMillis(waitedNanos),
          ThreadStack.of(threadInside()));
    }
    boolean spared = false;
    for (Query query : inside.keySet()) {
      if (waitedNanos >= endNanos) {
        query.endForDefinition();
      } else if (all || !query.runsAgain()) {
        query.cancelForDefinition();
      } else {
        spared = true;
      }
    }
    return spared;
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
