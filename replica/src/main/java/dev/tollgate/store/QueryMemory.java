package dev.tollgate.store;

import dev.tollgate.store.h2.Exhausted;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Shares the memory of a node among its queries, and the results that clients have not fetched yet.
 * When they hold as much as they may in sum, the one that holds most is ended, before the heap
 * fills: the collector takes the longer, the more is held, and a leader that stands still loses
 * leadership. Thread-safe.
 */
final class QueryMemory {
  /**
   * The heap size divided by this is what all queries may hold in sum, once the heap is so full.
   */
  private static final int SHARE_OF_ALL = 3;

  /** A query reports anew when it holds the heap size divided by this more. */
  private static final int REPORTS = 512;

  /** A heap that is fuller than this share after a collection is short of memory. */
  private static final double FULL = 0.75;

  /**
   * A query that may have ended another node has to make room once this share is in use, garbage
   * included: this node does not wait for a collection to see what the query keeps.
   */
  private static final double HALF = 0.5;

  /**
   * The heap size divided by this is what such a query has allocated at least when it makes room:
   * as many of them as can run at a time have allocated another half.
   */
  private static final int SHARE_AFTER_LOSS = 2 * SqlReader.MAX_QUERIES;

  /** Connections under which a query may have been lost, for it to run once more. */
  private static final int MOST_LOSSES = 1;

  /** A query that allocated less than the heap size divided by this is not what fills the heap. */
  private static final int SUSPICIOUS_SHARE = 16;

  private final MemoryWatch memory;
  private final Set<Use> uses = ConcurrentHashMap.newKeySet();

  QueryMemory(MemoryWatch memory) {
    this.memory = memory;
  }

  /** What one query or its result holds. */
  final class Use implements AutoCloseable {
    private final long allocatedBefore = MemoryWatch.allocatedBytes();
    private final int losses;
    private volatile long allocatedBytes;
    private volatile long heldBytes;
    private volatile boolean ended;

    /** Drops a result that waits to be fetched; a query that runs looks whether it is ended. */
    private volatile Runnable drop = () -> {};

    private boolean kept;
    private volatile boolean suspicious;

    private Use(int losses) {
      this.losses = losses;
    }

    /**
     * Records that the query is done and its result waits to be fetched, until {@link #release}.
     *
     * @param whenEnded drops the result; called by another thread
     */
    void keep(Runnable whenEnded) {
      kept = true;
      measure();
      allocatedBytes = 0;
      drop = whenEnded;
      if (ended) {
        whenEnded.run();
      }
    }

    private void end() {
      ended = true;
      drop.run();
    }

    /** Ends the query; its result may be kept. */
    @Override
    public void close() {
      if (!kept) {
        measure();
        release();
      }
    }

    /** Records that the query and its result hold nothing any more. */
    void release() {
      uses.remove(this);
      if (suspicious) {
        memory.doubt();
      }
    }

    /** For the thread of the query. */
    private void measure() {
      allocatedBytes = MemoryWatch.allocatedBytes() - allocatedBefore;
      suspicious |= allocatedBytes > memory.sizeBytes() / SUSPICIOUS_SHARE;
    }
  }

  /**
   * Begins a query on this thread.
   *
   * @param losses connections that were lost while the reply to the query was due on them
   * @throws org.h2.message.DbException with SQLState 53200 if the query does not run once more
   */
  Use begin(int losses) {
    if (losses > MOST_LOSSES) {
      throw Exhausted.memoryOfLostQuery(losses);
    }
    Use use = new Use(losses);
    uses.add(use);
    return use;
  }

  /**
   * Lets the query of this thread go on, unless it has to make room.
   *
   * @throws org.h2.message.DbException with SQLState 53200 if the heap is short of memory and no
   *     other query has allocated more; sooner if the query was under way on a connection that was
   *     lost
   */
  void requireRoomFor(Use use) {
    use.measure();
    requireShare(use, /* moreBytes= */ 0);
    if (use.suspicious
        && memory.isFuller(FULL)
        && uses.stream().noneMatch(other -> other.allocatedBytes > use.allocatedBytes)) {
      throw Exhausted.memoryOfQuery();
    }
  }

  /**
   * Lets the query of this thread allocate a large piece of memory, unless the piece would leave
   * too little. The JVM ends the node if there is no room for a piece.
   *
   * @throws org.h2.message.DbException with SQLState 53200
   */
  void requireRoomFor(Use use, long bytes) {
    requireShare(use, bytes);
    makeRoom(bytes);
    requireNotEnded(use);
    if (!memory.hasRoomFor(bytes)) {
      throw Exhausted.memoryOfQuery();
    }
  }

  /**
   * Records what the query of this thread holds, and makes room if all queries hold too much.
   *
   * @return the bytes at which to report again
   * @throws org.h2.message.DbException with SQLState 53200 if this query has to make the room
   */
  long holds(Use use, long bytes) {
    use.heldBytes = bytes;
    makeRoom(/* moreBytes= */ 0);
    requireNotEnded(use);
    return bytes + memory.sizeBytes() / REPORTS;
  }

  private void requireShare(Use use, long moreBytes) {
    requireNotEnded(use);
    if (use.losses > 0
        && use.allocatedBytes + moreBytes > memory.sizeBytes() / SHARE_AFTER_LOSS
        && memory.usedShare(moreBytes) > HALF) {
      throw Exhausted.memoryOfLostQuery(use.losses);
    }
  }

  private static void requireNotEnded(Use use) {
    if (use.ended) {
      throw Exhausted.memoryOfQuery();
    }
  }

  /**
   * Ends the queries that hold most until the others hold no more than they may. While the heap has
   * room, they may hold more: what they hold is estimated, and part of it may be garbage.
   */
  private void makeRoom(long moreBytes) {
    long most = memory.sizeBytes() / SHARE_OF_ALL;
    if (heldBytes() + moreBytes > most && memory.usedShare(moreBytes) > 1.0 / SHARE_OF_ALL) {
      synchronized (this) {
        while (heldBytes() + moreBytes > most) {
          Use largest =
              uses.stream()
                  .filter(use -> !use.ended)
                  .max(Comparator.comparingLong(use -> use.heldBytes))
                  .orElse(null);
          if (largest == null) {
            return;
          }
          largest.end();
        }
      }
    }
  }

  private long heldBytes() {
    return uses.stream().filter(use -> !use.ended).mapToLong(use -> use.heldBytes).sum();
  }
}
