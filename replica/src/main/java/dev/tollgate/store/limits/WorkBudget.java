package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.h2.Meter;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.statement.StatementMeter;

/**
 * The budget of one execution of a statement of the log, which grows with the existing data. It
 * counts what the statement does and no time, so every replica ends the statement at the same row.
 */
public final class WorkBudget implements StatementMeter {
  /** Bytes that are compared in one step. */
  private static final int BYTES_PER_STEP = 16;

  private final BatchWork batch;
  private final long rowsOfTables;
  private long maxRows;
  private final long paidChanges;
  private long maxBytes;
  private long rows;
  private long changesBefore;
  private long made;
  private long unpaidChanges;
  private long keptBytes;
  private long bytes;

  /**
   * @param batch what the sets before this one have done
   * @param rowsOfTables how many rows the tables to which the statement refers have before it runs,
   *     each table counted once, and its VALUES
   * @param changesBefore how many changes its transaction had made before it runs
   */
  WorkBudget(BatchWork batch, long rowsOfTables, long changesBefore) {
    this.batch = batch;
    this.rowsOfTables = rowsOfTables;
    this.changesBefore = changesBefore;
    maxRows = batch.rows().left(rowsOfTables);
    paidChanges = rowsOfTables * Limits.STATEMENT_CHANGES_PER_ROW;
    maxBytes = batch.bytes().left(rowsOfTables);
  }

  /** Returns the bytes written so far. */
  public long bytes() {
    return bytes;
  }

  /** Ends the execution: the next set of the batch gets what this set has left. */
  void end() {
    batch.rows().add(rows + unpaidChanges * Limits.ROWS_PER_CHANGE, rowsOfTables);
    batch.bytes().add(bytes, rowsOfTables);
    batch.changed(made);
  }

  /** Grants rows and bytes in addition: a definition may read the table that it changes. */
  public void grant(long moreRows, long moreBytes) {
    maxRows += moreRows;
    maxBytes += moreBytes;
  }

  @Override
  public void keeps(long bytesOfARow) {
    keptBytes = bytesOfARow;
  }

  @Override
  public void looked(int more) {
    rows += more;
    requireRows();
    if (keptBytes > 0) {
      wrote(more * keptBytes);
    }
  }

  @Override
  public void compared(long bytes) {
    int comparisons = Long.SIZE - Long.numberOfLeadingZeros(rowsOfTables + rows);
    Meter.steps(bytes / BYTES_PER_STEP * comparisons);
  }

  @Override
  public void changed(long changes) {
    // a definition has committed the changes before it
    changesBefore = Math.min(changesBefore, changes);
    made = Math.max(made, changes - changesBefore);
    unpaidChanges = Math.max(changes - changesBefore - paidChanges, 0);
    requireRows();
    if (made > batch.changesLeft()) {
      throw Exhausted.work(
          "the statement was ended and its changes undone, because one request changes at most "
              + batch.mostChanges()
              + " rows, counted once for each index, and twice where they were there before: every"
              + " replica keeps the changes in memory until they are committed. Split it, for instance"
              + " by ranges of the key");
    }
  }

  private void requireRows() {
    if (rows + unpaidChanges * Limits.ROWS_PER_CHANGE > maxRows) {
      throw Exhausted.work(
          "the statement was ended and its changes undone, because it looked at more than "
              + maxRows
              + " rows"
              + (unpaidChanges == 0
                  ? ""
                  : ", and each of "
                      + unpaidChanges
                      + " changes counts as "
                      + Limits.ROWS_PER_CHANGE)
              + ": every replica would stand still meanwhile. "
              + terms(batch.rows(), "look at", "rows")
              + " Split it, for instance by ranges of the key, or give its conditions and joins an"
              + " index");
    }
  }

  @Override
  public void wrote(long more) {
    bytes += more;
    if (bytes > maxBytes) {
      throw Exhausted.work(
          "the statement was ended and its changes undone, because it made and wrote more than "
              + maxBytes
              + " bytes: every replica keeps them in memory until it ends. "
              + terms(batch.bytes(), "write", "bytes")
              + " Split it, for instance by ranges of the key");
    }
  }

  private String terms(BatchWork.Account account, String does, String what) {
    WorkLimit limit = account.limit();
    return "A statement may "
        + does
        + " "
        + limit.base()
        + " "
        + what
        + ", and "
        + limit.perRow()
        + " more for each of the "
        + rowsOfTables
        + " rows that its tables and its VALUES have, but not more than "
        + limit.most()
        + "."
        + batch.whyLess()
        + account.shared();
  }
}
