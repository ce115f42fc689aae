package dev.tollgate.store.statement;

/**
 * Watches a statement while it runs. Called by the thread that runs it, often: once for every row
 * that it looks at.
 */
public interface StatementMeter {
  /** Steps that take as long as looking at one row. */
  int STEPS_PER_ROW = 64;

  /** For statements whose work is bounded by their text. */
  StatementMeter NONE = rows -> {};

  /**
   * The statement has looked at so many more rows.
   *
   * @throws org.h2.message.DbException if it may not go on
   */
  void looked(int rows);

  /**
   * The statement has written a row of this size.
   *
   * @throws org.h2.message.DbException if it may not go on
   */
  default void wrote(long bytes) {}

  /**
   * The statement has taken so many more steps through texts.
   *
   * @throws org.h2.message.DbException if it may not go on
   */
  default void stepped(int steps) {
    looked(rowsOf(steps));
  }

  /**
   * To compute a window function for one more row, the statement is about to go through so many
   * rows again.
   *
   * @throws org.h2.message.DbException if it may not go on
   */
  default void revisited(long rows) {}

  /** As how many rows steps count, rounded up. */
  static int rowsOf(long steps) {
    return (int) ((steps + STEPS_PER_ROW - 1) / STEPS_PER_ROW);
  }

  /**
   * The statement's transaction has made so many changes by now, one for each index of a row.
   *
   * @throws org.h2.message.DbException if it may not go on
   */
  default void changed(long changes) {}

  /** True if it may simply fail when there is no memory: it changes nothing. */
  default boolean mayRunOutOfMemory() {
    return false;
  }
}
