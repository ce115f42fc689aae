package dev.tollgate.store.limits;

/**
 * How much of something one execution of a statement may do: some of it always, more for each row
 * that the tables have to which it refers, and never more than the most.
 *
 * @param base what every statement may do
 * @param perRow what it may do beside for each of those rows
 * @param most what no statement may exceed, however large its tables are
 */
public record WorkLimit(long base, long perRow, long most) {
  public WorkLimit {
    if (base <= 0 || perRow < 0 || most < base) {
      throw new IllegalArgumentException(base + " + " + perRow + " for each row, to " + most);
    }
  }

  /** The same for all statements. */
  public static WorkLimit of(long most) {
    return new WorkLimit(most, 0, most);
  }

  /** That of a statement whose tables have so many rows. */
  long with(long rows) {
    return rows < (most - base) / Math.max(perRow, 1) ? base + perRow * rows : most;
  }
}
