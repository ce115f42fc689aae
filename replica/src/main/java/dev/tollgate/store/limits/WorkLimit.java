package dev.tollgate.store.limits;

/**
 * A limit on one kind of work of one execution of a statement. The limit is a base, plus more for
 * each row of the tables to which the statement refers, and never more than a maximum.
 *
 * @param base what every statement may do
 * @param perRow what a statement may do in addition for each of those rows
 * @param most what no statement may exceed, however large its tables are
 */
public record WorkLimit(long base, long perRow, long most) {
  public WorkLimit {
    if (base <= 0 || perRow < 0 || most < base) {
      throw new IllegalArgumentException(base + " + " + perRow + " for each row, to " + most);
    }
  }

  /** Returns a limit that is the same for all statements. */
  public static WorkLimit of(long most) {
    return new WorkLimit(most, 0, most);
  }

  /** Returns a limit with another maximum; the base is not more than that. */
  WorkLimit atMost(long less) {
    return new WorkLimit(Math.min(base, less), perRow, less);
  }

  /** Returns the limit of a statement whose tables have this many rows. */
  long with(long rows) {
    return rows < (most - base) / Math.max(perRow, 1) ? base + perRow * rows : most;
  }
}
