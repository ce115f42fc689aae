package dev.tollgate.store;

import dev.tollgate.store.h2.Exhausted;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Shares the memory of a node among its queries. When the heap runs short, the query that has
 * allocated most is ended, before the JVM gives up. Thread-safe.
 */
final class QueryMemory {
  /** A heap that is fuller than this share after a collection is short of memory. */
  private static final double FULL = 0.75;

  /** A query that allocated less than the heap size divided by this is not what fills the heap. */
  private static final int SUSPICIOUS_SHARE = 16;

  private final MemoryWatch memory;
  private final Set<Use> running = ConcurrentHashMap.newKeySet();

  QueryMemory(MemoryWatch memory) {
    this.memory = memory;
  }

  /** What one query has allocated. Belongs to the thread of the query, which others read. */
  final class Use implements AutoCloseable {
    private final long allocatedBefore = MemoryWatch.allocatedBytes();
    private volatile long allocatedBytes;

    private Use() {}

    /** Ends the query. */
    @Override
    public void close() {
      running.remove(this);
    }
  }

  /** Begins a query on this thread. */
  Use begin() {
    Use use = new Use();
    running.add(use);
    return use;
  }

  /**
   * Lets the query of this thread go on, unless it has to make room.
   *
   * @throws org.h2.message.DbException with SQLState 53200 if the heap is short of memory and no
   *     other query has allocated more
   */
  void requireRoomFor(Use use) {
    use.allocatedBytes = MemoryWatch.allocatedBytes() - use.allocatedBefore;
    if (use.allocatedBytes > memory.sizeBytes() / SUSPICIOUS_SHARE
        && memory.isFuller(FULL)
        && running.stream().noneMatch(other -> other.allocatedBytes > use.allocatedBytes)) {
      throw Exhausted.memoryOfQuery();
    }
  }
}
