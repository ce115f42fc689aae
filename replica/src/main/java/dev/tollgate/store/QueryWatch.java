package dev.tollgate.store;

import dev.tollgate.core.command.Limits;
import dev.tollgate.h2.Meter;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.wire.Protocol;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.value.Value;

/**
 * Looks at a query again and again, from its preparation to its last row, whatever H2 does
 * meanwhile: ends the query once it is canceled, and before it exhausts the memory of the node. H2
 * keeps a whole result in memory. Without this watch, one query would crash the leader.
 */
final class QueryWatch implements Meter.Watch {
  /** For what counts rows: a query may examine as many as it likes. */
  static final StatementMeter ROWS =
      new StatementMeter() {
        @Override
        public void looked(int rows) {}

        @Override
        public boolean mayRunOutOfMemory() {
          return true;
        }
      };

  /** H2 takes a few tenths of a millisecond for so many steps. */
  private static final int STEPS_PER_CHECK = 10_000;

  /** Bytes of buffers for each byte of a row while it is written: a buffer doubles as it grows. */
  private static final int BUFFERS_PER_BYTE = 4;

  /** Maximum bytes that values take in memory for each byte that they take in a frame. */
  private static final int MEMORY_PER_SENT_BYTE = 16;

  private final QueryMemory memory;
  private final QueryMemory.Use use;
  private final SqlReader.Canceller canceller;
  private final Bound bound;

  /** What a query may take. */
  interface Bound {
    /** For a query that may take as long as it likes, because its client can cancel it. */
    Bound NONE = steps -> {};

    /**
     * Ends the query on this thread if it has taken more.
     *
     * @throws DbException with SQLState 54001
     */
    void check(long steps);

    /** A number of steps. */
    static Bound steps(long most) {
      return steps -> {
        if (steps > most) {
          throw Exhausted.work(
              "the statement was not prepared, because that takes more than "
                  + most
                  + " steps: use less work in constants");
        }
      };
    }

    /**
     * Processor time of the thread that calls this, from now on. After as many steps as any write
     * may take the query is ended as if it were canceled: it has not shown what it takes.
     */
    static Bound rehearsal(long millis) {
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      long end = threads.getCurrentThreadCpuTime() + TimeUnit.MILLISECONDS.toNanos(millis);
      return steps -> {
        if (threads.getCurrentThreadCpuTime() > end) {
          throw Exhausted.work(
              "its query took more than " + millis + " ms of processor time: split the statement");
        }
        if (steps > Limits.STATEMENT_STEPS_BASE) {
          throw DbException.get(ErrorCode.STATEMENT_WAS_CANCELED);
        }
      };
    }
  }

  QueryWatch(QueryMemory memory, QueryMemory.Use use, SqlReader.Canceller canceller, Bound bound) {
    this.memory = memory;
    this.use = use;
    this.canceller = canceller;
    this.bound = bound;
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // nothing relies on it; other threads wait less with it
  public long reached(long steps) {
    if (steps > 0) {
      // otherwise sixteen queries on two processors delay every thread of a lock call in turn
      Thread.yield();
    }
    if (canceller.isCancelled()) {
      throw DbException.get(ErrorCode.STATEMENT_WAS_CANCELED);
    }
    memory.requireRoomFor(use);
    bound.check(steps);
    return steps + STEPS_PER_CHECK;
  }

  @Override
  public void allocates(long bytes) {
    memory.requireRoomFor(use, bytes);
  }

  @Override
  public long retains(long bytes) {
    return memory.holds(use, bytes);
  }

  /**
   * Refuses a result with a row that no frame can carry, or for whose frame there is no memory,
   * before the row is written.
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
      Meter.allocates(bytes * BUFFERS_PER_BYTE);
    }
    result.reset();
  }
}
