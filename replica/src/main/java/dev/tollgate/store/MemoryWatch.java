package dev.tollgate.store;

import static java.util.Objects.requireNonNull;

import com.sun.management.ThreadMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How much of the heap is in use, as far as the garbage collector knows. What a pool holds right
 * after a collection is what counts: before it, garbage looks like data.
 *
 * <p>Thread-safe. Nothing that is applied may depend on it: the memory of replicas differs.
 */
final class MemoryWatch {
  /** What the collector found is believed for this long before it is asked again. */
  private static final long STALE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Share of the heap by which it may grow before the collector is asked again. */
  private static final double GROWTH = 0.1;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final @Nullable MemoryPoolMXBean pool = longLived();
  private final List<GarbageCollectorMXBean> collectors = collectorsOf(pool);
  private long knownCollections;
  private long lastCollectionNanos = System.nanoTime() - STALE_NANOS;

  /** The pool where objects live that survive: "Tenured Gen", "G1 Old Gen", "ZHeap", and so on. */
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

  /**
   * True if more than this share of the long-lived heap is in use after a collection. Makes the
   * collector look again if its last word is old, or much was allocated since: only while the heap
   * is this full, garbage included, and then a collection is near anyway.
   */
  boolean isFuller(double share) {
    if (pool == null || !usedMore(pool.getUsage(), share)) {
      return false;
    }
    boolean full = usedMore(pool.getCollectionUsage(), share);
    if (full ? isStale() : hasGrown()) {
      System.gc();
      full = usedMore(pool.getCollectionUsage(), share);
    }
    return full;
  }

  /** Bytes of the long-lived heap. */
  long sizeBytes() {
    MemoryUsage usage = pool == null ? null : pool.getUsage();
    return usage == null || usage.getMax() < 0 ? Runtime.getRuntime().maxMemory() : usage.getMax();
  }

  /** Bytes that the calling thread has allocated so far, garbage included. */
  static long allocatedBytes() {
    return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  private synchronized boolean isStale() {
    long collections = 0;
    for (GarbageCollectorMXBean collector : collectors) {
      collections += collector.getCollectionCount();
    }
    if (collections != knownCollections) {
      knownCollections = collections;
      lastCollectionNanos = System.nanoTime();
    }
    return System.nanoTime() - lastCollectionNanos > STALE_NANOS;
  }

  private boolean hasGrown() {
    MemoryUsage now = requireNonNull(pool).getUsage();
    MemoryUsage then = pool.getCollectionUsage();
    return then == null || now.getUsed() - then.getUsed() > GROWTH * now.getMax();
  }

  private static boolean usedMore(@Nullable MemoryUsage usage, double share) {
    return usage != null && usage.getMax() > 0 && usage.getUsed() > share * usage.getMax();
  }
}
