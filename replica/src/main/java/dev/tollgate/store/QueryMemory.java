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
 * Ends a query before it exhausts the memory of the node. H2 keeps a whole result in memory.
 * Without this meter, one query would crash the leader. The driver would send the query to the next
 * leader, which would crash too.
 *
 * <p>Also lets a query be canceled once in some 1,000 rows: H2 checks for cancellation only when a
 * row passes all conditions.
 */
final class QueryMemory implements StatementMeter {
  /** A heap that is fuller than this share after a collection is short of memory. */
  private static final double FULL = 0.75;

  /** A query that allocated less than the heap size divided by this is not what fills the heap. */
  private static final int SUSPICIOUS_SHARE = 16;

  private static final int ROWS_PER_CHECK = 1_024;

  /** Maximum bytes that values take in memory for each byte that they take in a frame. */
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
  @SuppressWarnings("ThreadPriorityCheck") // nothing relies on it; other threads wait less with it
  public void looked(int rows) {
    rowsUntilCheck -= rows;
    if (rowsUntilCheck > 0) {
      return;
    }
    rowsUntilCheck = ROWS_PER_CHECK;
    // otherwise sixteen queries on two processors delay every thread of a lock call in turn
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
   * Refuses a result with a row that no frame can carry, before the row is written.
   *
   * @param result positioned before its first row, on entry and on return
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
