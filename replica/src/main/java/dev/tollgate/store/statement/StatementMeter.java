package dev.tollgate.store.statement;

/**
 * Watches a statement while it runs. The thread that runs the statement calls the meter often: once
 * for every row that the statement examines.
 */
public interface StatementMeter {
  /** Number of steps that take as long as examining one row. */
  int STEPS_PER_ROW = 64;

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
   * Records that the statement has taken this many more steps through texts.
   *
   * @throws org.h2.message.DbException if the statement may not go on
   */
  default void stepped(int steps) {
    looked((int) rowsOf(steps));
  }

  /**
   * Records that the statement compares a value of this size with those of other rows, of which it
   * finds the right place in so many comparisons as their number has binary digits.
   *
   * @throws org.h2.message.DbException if the statement may not go on
   */
  default void compared(long bytes) {}

  /** Records what the statement may do with each row that it examines from now on. */
  default void weighed(StatementWeight weight) {}

  /** The number of rows that steps count as, rounded up. */
  static long rowsOf(long steps) {
    return (steps + STEPS_PER_ROW - 1) / STEPS_PER_ROW;
  }

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
