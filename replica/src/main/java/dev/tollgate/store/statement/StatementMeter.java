package dev.tollgate.store.statement;

/**
 * Watches a statement while it runs. The thread that runs the statement calls the meter often: once
 * for every row that the statement examines.
 */
public interface StatementMeter {
  /** Bytes of a row of which no value is worth being counted where it is compared. */
  int SMALL_BYTES = 1_024;

  /** For statements whose work is bounded by their text. */
  StatementMeter NONE = rows -> {};

  /**
   * Records that the statement has examined this many more rows.
   *
   * @throws org.h2.message.DbException if the statement may not go on
   */
  void looked(int rows);

  /**
   * Records that the statement has written a row of this size.
   *
   * @throws org.h2.message.DbException if the statement may not go on
   */
  default void wrote(long bytes) {}

  /**
   * Records that the statement compares a value of this size with those of other rows, of which it
   * finds the right place in so many comparisons as their number has binary digits.
   *
   * @throws org.h2.message.DbException if the statement may not go on
   */
  default void compared(long bytes) {}

  /** Records what the statement keeps for each row that it examines from now on. */
  default void keeps(long bytesOfARow) {}

  /**
   * Records that the statement's transaction has made this many changes so far, one for each index
   * of a row.
   *
   * @throws org.h2.message.DbException if the statement may not go on
   */
  default void changed(long changes) {}

  /** True if the statement may simply fail when there is no memory, because it changes nothing. */
  default boolean mayRunOutOfMemory() {
    return false;
  }
}
