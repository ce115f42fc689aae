package dev.tollgate.store;

import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.wire.Protocol;
import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.value.Value;

/**
 * Ends a query before it takes the memory that the node lives on. H2 keeps a whole result in
 * memory; without this, one query would end the leader, the driver would send it to the next
 * leader, and it would end that one too.
 *
 * <p>Also lets a query be cancelled between any two rows: H2 asks whether a statement was cancelled
 * only when a row passes all conditions.
 */
final class QueryMemory implements StatementMeter {
  /** A heap fuller than this after a collection is short of memory. */
  private static final double FULL = 0.75;

  /** A query that allocated less than this share of the heap is not what fills it. */
  private static final int SUSPICIOUS_SHARE = 16;

  private static final int ROWS_PER_CHECK = 1_024;

  /** Bytes that values take in memory, at most, for each byte that they take in a frame. */
  private static final int MEMORY_PER_SENT_BYTE = 16;

  private final MemoryWatch memory;
  private final SqlReader.Canceller canceller;
  private final long allocatedBefore = MemoryWatch.allocatedBytes();
  private int rowsUntilCheck = ROWS_PER_CHECK;

  QueryMemory(MemoryWatch memory, SqlReader.Canceller canceller) {
    this.memory = memory;
    this.canceller = canceller;
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // nothing relies on it: others wait less with it
  public void looked(int rows) {
    rowsUntilCheck -= rows;
    if (rowsUntilCheck > 0) {
      return;
    }
    rowsUntilCheck = ROWS_PER_CHECK;
    // sixteen of these on two processors would hold up every thread of a lock call in turn
    Thread.yield();
    if (canceller.isCancelled()) {
      throw DbException.get(ErrorCode.STATEMENT_WAS_CANCELED);
    }
    long allocated = MemoryWatch.allocatedBytes() - allocatedBefore;
    if (allocated > memory.sizeBytes() / SUSPICIOUS_SHARE && memory.isFuller(FULL)) {
      throw Exhausted.memoryOfQuery();
    }
  }

  @Override
  public boolean mayRunOutOfMemory() {
    return true;
  }

  /**
   * Refuses a result with a row that no frame can carry, before it is written into one.
   *
   * @param result stands before its first row, and does so again
   */
  static void requireSendable(ResultInterface result) {
    if (result.isLazy() || result.getRowCount() > MEMORY_PER_SENT_BYTE) {
      return;
    }
    while (result.next()) {
      long bytes = 0;
      for (Value value : result.currentRow()) {
        bytes += Nesting.requireBytes(value);
      }
      if (bytes > (long) Protocol.MAX_FRAME_BYTES * MEMORY_PER_SENT_BYTE) {
        result.close();
        throw Exhausted.memoryOfQuery();
      }
    }
    result.reset();
  }
}
