package dev.tollgate.store;

import static java.util.Objects.requireNonNull;

import com.sun.management.ThreadMXBean;
import dev.tollgate.store.h2.Exhausted;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Measures how much of the heap is in use, as far as the garbage collector knows. Only what a pool
 * holds right after a collection counts: before the collection, garbage looks like data.
 *
 * <p>Thread-safe. No caller waits for a collection, except one that needs a large piece of memory.
 * Nothing that is applied may depend on this class, because the memory of replicas differs.
 */
public final class MemoryWatch {
  /** A heap that is fuller than this share after a collection takes no more rows. */
  private static final double FULL_FOR_WRITES = 0.85;

  private static final Pattern FREES_MEMORY =
      Pattern.compile("\\s*(DELETE|TRUNCATE|DROP)\\b", Pattern.CASE_INSENSITIVE);

  /** How long the result of a collection is trusted before another is requested. */
  static final long STALE_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** Share of the heap by which use may grow before another collection is requested. */
  private static final double GROWTH = 0.1;

  private static final long NONE = -1;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** The part of the heap that holds surviving objects. */
  interface Heap {
    /** Share that is in use, garbage included. */
    double usedShare();

    /** Share that was in use after the last collection. */
    double usedAfterCollection();

    /** Number of collections so far. */
    long collections();

    long sizeBytes();

    /** Runs a collection, during which everything stops. */
    void collect();
  }

  private final Heap heap;
  private final Object collectingForPieces = new Object();
  private final AtomicBoolean collecting = new AtomicBoolean();
  private volatile boolean doubted;
  private volatile long forgottenCollections = NONE;
  private long knownCollections;
  private long lastCollectionNanos = System.nanoTime() - STALE_NANOS;

  MemoryWatch() {
    this(new JvmHeap());
  }

  MemoryWatch(Heap heap) {
    this.heap = requireNonNull(heap, "heap");
  }

  /**
   * Refuses a statement that may enlarge the database while memory is nearly exhausted. For the
   * leader, before the statement enters the log: once the statement is there, no replica may decide
   * for itself.
   *
   * @throws SQLException with SQLState 53200
   */
  public void requireRoomFor(String sql) throws SQLException {
    if (isFuller(FULL_FOR_WRITES) && !FREES_MEMORY.matcher(sql).lookingAt()) {
      throw Exhausted.memory(
          "the statement was refused and changed nothing, because the database has nearly filled"
              + " the node's memory: delete rows, drop what is not needed, or give the nodes more"
              + " heap");
    }
  }

  /**
   * Forgets what collections have said so far. For a node that begins to lead: while it applied the
   * log, it may have held much more than it does now. Until the next collection it counts as a node
   * that has room.
   */
  public void forget() {
    forgottenCollections = heap.collections();
  }

  /**
   * Has the next question about a full heap run a collection. For a query that held much and has
   * ended: the collector may have counted what it held. Until that collection the heap counts as
   * full.
   */
  void doubt() {
    doubted = true;
  }

  /**
   * True if more than this share of the long-lived heap was in use after the last collection. Has
   * another thread run a collection if the last one was long ago, or if much was allocated since.
   * It does so only while the heap is this full, garbage included: a collection is near then
   * anyway.
   */
  boolean isFuller(double share) {
    if (heap.usedShare() <= share) {
      return false;
    }
    if (heap.collections() == forgottenCollections) {
      collectBeside();
      return false;
    }
    boolean full = heap.usedAfterCollection() > share;
    if (full ? doubted || isStale() : heap.usedShare() - heap.usedAfterCollection() > GROWTH) {
      collectBeside();
    }
    return full;
  }

  /** The share of the long-lived heap that is in use with this many more, garbage included. */
  double usedShare(long moreBytes) {
    return heap.usedShare() + (double) moreBytes / heap.sizeBytes();
  }

  /**
   * True if a piece of memory of this size takes at most half of what is free. Runs a collection if
   * it takes more: the piece itself would soon make the JVM run one. Does not run one if the last
   * collection was a short time ago and left too little.
   */
  boolean hasRoomFor(long bytes) {
    if (isHalfOfFree(bytes, heap.usedShare())) {
      return true;
    }
    synchronized (collectingForPieces) {
      if (isHalfOfFree(bytes, heap.usedShare())) {
        return true;
      }
      if (isStale() || isHalfOfFree(bytes, heap.usedAfterCollection())) {
        heap.collect();
      }
      return isHalfOfFree(bytes, heap.usedShare());
    }
  }

  private boolean isHalfOfFree(long bytes, double usedShare) {
    return bytes <= (1 - usedShare) * heap.sizeBytes() / 2;
  }

  private void collectBeside() {
    if (collecting.compareAndSet(false, true)) {
      doubted = false;
      ForkJoinPool.commonPool()
          .execute(
              () -> {
                try {
                  heap.collect();
                } finally {
                  collecting.set(false);
                }
              });
    }
  }

  /** Bytes of the long-lived heap. */
  long sizeBytes() {
    return heap.sizeBytes();
  }

  /** Bytes that the calling thread has allocated so far, garbage included. */
  static long allocatedBytes() {
    return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  private synchronized boolean isStale() {
    long collections = heap.collections();
    if (collections != knownCollections) {
      knownCollections = collections;
      lastCollectionNanos = System.nanoTime();
    }
    return System.nanoTime() - lastCollectionNanos > STALE_NANOS;
  }

  /** The pool "Tenured Gen", "G1 Old Gen", "ZHeap", and so on. */
  private static final class JvmHeap implements Heap {
    private final @Nullable MemoryPoolMXBean pool = longLived();
    private final List<GarbageCollectorMXBean> collectors = collectorsOf(pool);

    private static @Nullable MemoryPoolMXBean longLived() {
      for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
        if (pool.getType() == MemoryType.HEAP
            && pool.isUsageThresholdSupported()
            && pool.isCollectionUsageThresholdSupported()) {
          return pool;
        }
      }
      return null;
    }

    /** The collectors that look at this pool and nothing but whole: young collections do not. */
    private static List<GarbageCollectorMXBean> collectorsOf(@Nullable MemoryPoolMXBean pool) {
      return ManagementFactory.getGarbageCollectorMXBeans().stream()
          .filter(c -> pool != null && List.of(c.getMemoryPoolNames()).contains(pool.getName()))
          .toList();
    }

    @Override
    public double usedShare() {
      return pool == null ? 0 : share(pool.getUsage());
    }

    @Override
    public double usedAfterCollection() {
      return pool == null ? 0 : share(pool.getCollectionUsage());
    }

    private static double share(@Nullable MemoryUsage usage) {
      return usage == null || usage.getMax() <= 0 ? 0 : (double) usage.getUsed() / usage.getMax();
    }

    @Override
    public long collections() {
      return collectors.stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    }

    @Override
    public long sizeBytes() {
      MemoryUsage usage = pool == null ? null : pool.getUsage();
      return usage == null || usage.getMax() < 0
          ? Runtime.getRuntime().maxMemory()
          : usage.getMax();
    }

    @Override
    public void collect() {
      System.gc();
    }
  }
}
