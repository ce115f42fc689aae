package dev.tollgate.h2;

import java.util.IdentityHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.h2.command.query.Query;
import org.h2.engine.Database;
import org.h2.engine.DbObject;
import org.h2.engine.SessionLocal;
import org.h2.result.ResultInterface;
import org.h2.result.ResultTarget;
import org.h2.result.Row;
import org.h2.table.Table;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Counts what H2 does on a thread: one step for each turn of a loop, and what calls of the Java
 * runtime count by the size of their arguments ({@link Charged}). H2's storage is not counted, so
 * the count depends on statements and rows alone, and not on how rows are stored.
 *
 * <p>A {@link Watch} sees the count again and again, and may end what is counted. Each thread has a
 * meter of its own.
 */
public final class Meter {
  private static final ThreadLocal<Meter> OF_THREAD = ThreadLocal.withInitial(Meter::new);

  /** A piece of memory of fewer bytes is not announced. */
  public static final int LARGE_BYTES = 1 << 18;

  private static final long REFERENCE_BYTES = 4;

  /** Bytes of an entry in a map, an array without its elements, or the state of an aggregate. */
  private static final int ENTRY_BYTES = 40;

  /** A query within another begins anew for each row: what it opens and closes is no loop. */
  private static final int STEPS_OF_A_QUERY = 64;

  /** Steps until a watch looks again that has thrown. */
  private static final long GRACE = 1_000_000;

  /** Calls of a method by itself, within each other: each takes a part of the stack. */
  private static final int RECURSION = 500;

  private long steps;
  private long next = Long.MAX_VALUE;
  private Watch watch = Watch.NONE;
  private int depth;
  private int paused;
  private long stepsBeforePause;
  private long retainedBytes;
  private long nextRetained = Long.MAX_VALUE;

  /** What the last result of each query within a query retains, while the watch counts that. */
  private IdentityHashMap<Query, Long> results = new IdentityHashMap<>(0);

  /** What was made for the statement under this watch; null before the first. */
  private @Nullable IdentityHashMap<Object, Object> made;

  /** What the watch has thrown; null if nothing. */
  private @Nullable RuntimeException ended;

  Meter() {}

  private static Meter ofThread() {
    return Thread.currentThread() instanceof MeteredThread thread
        ? thread.meter()
        : OF_THREAD.get();
  }

  /** Looks at what a thread does. */
  @FunctionalInterface
  public interface Watch {
    /** Never looks. */
    Watch NONE = steps -> Long.MAX_VALUE;

    /**
     * Called once the count has reached what the last call returned. May throw to end what the
     * thread does.
     *
     * @param steps the number of steps since the watch began
     * @return the number of steps at which to look again
     */
    long reached(long steps);

    /**
     * Called before the thread allocates a piece of memory of at least {@value Meter#LARGE_BYTES}
     * bytes. May throw to end what the thread does.
     *
     * @param bytes an estimate, of the old piece too where one grows
     */
    default void allocates(long bytes) {}

    /**
     * Called when the watch begins, and whenever what H2 has put into collections has grown to what
     * the last call returned. May throw to end what the thread does.
     *
     * @param bytes an estimate of the values in collections; values that are in several count as
     *     often, and what H2 has dropped counts too, except for the former result of a query that
     *     ran again within another query
     * @return the bytes at which to call again
     */
    default long retains(long bytes) {
      return Long.MAX_VALUE;
    }

    /**
     * Called when the watch ends, however the work has ended. Must not throw.
     *
     * @param steps the number of steps since the watch began
     */
    default void ended(long steps) {}
  }

  /** What a thread does under a watch. */
  @FunctionalInterface
  public interface Work<T, E extends Exception> {
    T run() throws E;
  }

  /**
   * Does work under a watch, which first looks after no step, and counts its steps from zero. A
   * watch within another one has its own count, which is added to the other's.
   *
   * <p>What the watch throws ends the work, also where H2 takes it for something else: it answers
   * {@code x IS JSON} by whether reading {@code x} throws. After that, and some more steps, each
   * step throws.
   */
  public static <T, E extends Exception> T watched(Watch watch, Work<T, E> work) throws E {
    Meter meter = ofThread();
    Watch outer = meter.watch;
    long outerSteps = meter.steps;
    long outerNext = meter.next;
    long outerRetained = meter.retainedBytes;
    long outerNextRetained = meter.nextRetained;
    IdentityHashMap<Query, Long> outerResults = meter.results;
    int outerDepth = meter.depth;
    IdentityHashMap<Object, Object> outerMade = meter.made;
    RuntimeException outerEnded = meter.ended;
    meter.made = null;
    meter.ended = null;
    meter.watch = watch;
    meter.retainedBytes = 0;
    meter.nextRetained = watch.retains(0);
    meter.results = new IdentityHashMap<>(0);
    meter.steps = 0;
    meter.next = watch.reached(0);
    try {
      T result = work.run();
      if (meter.ended != null) {
        throw meter.ended;
      }
      return result;
    } finally {
      watch.ended(meter.steps);
      meter.ended = outerEnded;
      meter.watch = outer;
      meter.steps += outerSteps;
      meter.next = outerNext;
      meter.retainedBytes = outerRetained;
      meter.nextRetained = outerNextRetained;
      meter.results = outerResults;
      meter.depth = outerDepth;
      meter.made = outerMade;
    }
  }

  /** Does work that does not count, and that no watch sees. */
  public static <T, E extends Exception> T uncounted(Work<T, E> work) throws E {
    pause();
    try {
      return work.run();
    } finally {
      resume();
    }
  }

  /** Does work that counts although it is a part of what does not. */
  public static <T, E extends Exception> T counted(Work<T, E> work) throws E {
    Meter meter = ofThread();
    int paused = meter.paused;
    if (paused == 0) {
      return work.run();
    }
    meter.paused = 0;
    meter.steps = meter.stepsBeforePause;
    try {
      return work.run();
    } finally {
      meter.paused = paused;
      meter.stepsBeforePause = meter.steps;
    }
  }

  /** The number of steps of this thread since its innermost watch began. */
  public static long steps() {
    return ofThread().steps;
  }

  /**
   * Begins a call of a method by itself, which counts under a watch: only there is the depth taken
   * back when a call throws.
   *
   * @throws org.h2.message.DbException with SQLState 54001 if it is too deep
   */
  public static void enter() {
    Meter meter = ofThread();
    if (meter.watch == Watch.NONE) {
      return;
    }
    if (meter.depth >= RECURSION) {
      throw Limited.tooMuch(
          "the statement was ended and its changes undone, because a pattern, a value or an expression"
              + " in it led the database into a recursion of more than "
              + RECURSION
              + " calls: use fewer wildcards, or nest less");
    }
    meter.depth++;
  }

  /** Ends a call of a method by itself; a call that throws ends with the statement. */
  public static void leave() {
    Meter meter = ofThread();
    meter.depth = Math.max(meter.depth - 1, 0);
  }

  /** Counts one turn of a loop. */
  public static void step() {
    Meter meter = ofThread();
    if (++meter.steps >= meter.next) {
      meter.look();
    }
  }

  /** Counts this many steps. */
  public static void steps(long more) {
    Meter meter = ofThread();
    meter.steps += more;
    if (meter.steps >= meter.next) {
      meter.look();
    }
  }

  /** Announces a piece of memory that is to be allocated; does not count. */
  public static void allocates(long bytes) {
    if (bytes >= LARGE_BYTES) {
      Meter meter = ofThread();
      if (meter.paused == 0) {
        meter.told(
            () -> {
              meter.watch.allocates(bytes);
              return bytes;
            });
      }
    }
  }

  /** Counts what H2 puts into a collection: a value, a row, or what it computes of a group. */
  static void retains(@Nullable Object element) {
    Meter meter = ofThread();
    if (meter.nextRetained != Long.MAX_VALUE) {
      meter.retainedBytes += bytesOf(element);
      if (meter.retainedBytes >= meter.nextRetained) {
        meter.nextRetained = meter.retainedBytes + LARGE_BYTES;
        meter.nextRetained = meter.told(() -> meter.watch.retains(meter.retainedBytes));
      }
    }
  }

  private static long bytesOf(@Nullable Object element) {
    if (element instanceof Value value) {
      return REFERENCE_BYTES + value.getMemory();
    }
    long bytes = ENTRY_BYTES;
    if (element instanceof Object[] row) {
      for (Object column : row) {
        bytes += REFERENCE_BYTES;
        if (column != null) {
          bytes += column instanceof Value value ? value.getMemory() : ENTRY_BYTES;
        }
      }
    }
    return bytes;
  }

  /** Runs a query within another; its result takes the place of its former one. */
  @Replaces(of = "org.h2.command.query.Query")
  public static ResultInterface query(Query query, long limit) {
    return ofThread().within(query, () -> query.query(limit));
  }

  /** The same, where the rows go elsewhere. */
  @Replaces(of = "org.h2.command.query.Query")
  public static ResultInterface query(Query query, long limit, ResultTarget target) {
    return ofThread().within(query, () -> query.query(limit, target));
  }

  private ResultInterface within(Query query, Supplier<ResultInterface> run) {
    steps(STEPS_OF_A_QUERY);
    if (nextRetained == Long.MAX_VALUE) {
      return run.get();
    }
    IdentityHashMap<Query, Long> outer = results;
    Long former = outer.remove(query);
    if (former != null) {
      retainedBytes -= former;
    }
    long before = retainedBytes;
    results = new IdentityHashMap<>(0);
    try {
      return run.get();
    } finally {
      results = outer;
      outer.put(query, retainedBytes - before);
    }
  }

  /**
   * As in {@link Query#getMaxDataModificationId()}, uncounted: views keep the answer until
   * something changes, also if a query of another session has asked.
   */
  @Replaces(of = "org.h2.command.query.Query")
  public static long getMaxDataModificationId(Query query) {
    return uncounted(query::getMaxDataModificationId);
  }

  /** As in {@link Table#getNullRow()}, uncounted: a table keeps the row that it makes first. */
  @Replaces(of = "org.h2.table.Table")
  public static Row getNullRow(Table table) {
    return uncounted(table::getNullRow);
  }

  /**
   * Makes something that lasts as long as the innermost watch, once under each watch, and each time
   * where nothing is watched.
   *
   * @param source what it is made of, by identity
   */
  @SuppressWarnings("unchecked")
  public static <T> T ofStatement(Object source, Supplier<T> maker) {
    Meter meter = ofThread();
    if (meter.watch == Watch.NONE) {
      return maker.get();
    }
    if (meter.made == null) {
      meter.made = new IdentityHashMap<>();
    }
    Object known = meter.made.get(source);
    if (known == null) {
      known = maker.get();
      meter.made.put(source, known);
    }
    return (T) known;
  }

  /** Tells the watch something, and remembers if it ends the work. */
  private long told(LongSupplier news) {
    try {
      return news.getAsLong();
    } catch (RuntimeException e) {
      ended = e;
      throw e;
    }
  }

  private void look() {
    if (paused == 0) {
      if (ended != null) {
        next = steps;
        throw ended;
      }
      // for what is left to do once the watch has thrown, and not for ever
      next = steps + GRACE;
      next = told(() -> watch.reached(steps));
    }
  }

  /**
   * Begins what does not count, such as the initializer of a class, which runs once in a process.
   */
  public static void pause() {
    Meter meter = ofThread();
    if (meter.paused++ == 0) {
      meter.stepsBeforePause = meter.steps;
    }
  }

  /** Ends what {@link #pause} began. */
  public static void resume() {
    Meter meter = ofThread();
    if (--meter.paused == 0) {
      meter.steps = meter.stepsBeforePause;
    }
  }

  /** Stores a sequence, which happens once in so many values as it keeps, unseen by statements. */
  @Replaces(of = "org.h2.engine.Database", in = "org.h2.schema.Sequence")
  public static void updateMeta(Database database, SessionLocal session, DbObject sequence) {
    uncounted(
        () -> {
          database.updateMeta(session, sequence);
          return true;
        });
  }
}
