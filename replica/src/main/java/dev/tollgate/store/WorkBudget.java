package dev.tollgate.store;

/**
 * What one execution of a statement of the log may cost. It counts what the statement does and no
 * time, so every replica ends the statement at the same row.
 */
final class WorkBudget implements StatementMeter {
  private final long maxRows;
  private final long maxBytes;
  private long rows;
  private long bytes;

  /**
   * @param maxRows normally {@link dev.tollgate.core.Limits#STATEMENT_ROWS}
   * @param maxBytes normally {@link dev.tollgate.core.Limits#STATEMENT_WRITTEN_BYTES}
   */
  WorkBudget(long maxRows, long maxBytes) {
    this.maxRows = maxRows;
    this.maxBytes = maxBytes;
  }

  /** What was written so far. */
  long bytes() {
    return bytes;
  }

  @Override
  public void looked(int more) {
    rows += more;
    if (rows > maxRows) {
      throw Exhausted.work(
          "the statement was ended and changed nothing, because it looked at more than "
              + maxRows
              + " rows: every replica would stand still meanwhile. Split it, for instance by ranges"
              + " of the key, or give it an index");
    }
  }

  @Override
  public void wrote(long more) {
    bytes += more;
    if (bytes > maxBytes) {
      throw Exhausted.work(
          "the statement was ended and changed nothing, because it wrote more than "
              + maxBytes
              + " bytes: every replica keeps them in memory until it ends. Split it, for instance by"
              + " ranges of the key");
    }
  }
}
