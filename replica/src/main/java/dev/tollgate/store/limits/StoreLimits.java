package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;

/**
 * Limits on the cost of statements of the log, the same on every replica.
 *
 * @param rows rows that one execution of a statement may examine
 * @param bytes bytes that one execution may write
 * @param steps steps that one execution may take, of which H2 takes several for each row
 * @param transactionChanges changes that a transaction may hold before its next statement, and that
 *     one request may make
 * @param transactionBytes bytes that a transaction may have written before its next statement
 */
public record StoreLimits(
    WorkLimit rows,
    WorkLimit bytes,
    WorkLimit steps,
    long transactionChanges,
    long transactionBytes) {
  /** The limits that {@link Limits} states. */
  public static final StoreLimits DEFAULT =
      new StoreLimits(
          new WorkLimit(
              Limits.STATEMENT_ROWS_BASE, Limits.STATEMENT_ROWS_PER_ROW, Limits.STATEMENT_ROWS),
          new WorkLimit(
              Limits.STATEMENT_WRITTEN_BYTES_BASE,
              Limits.STATEMENT_WRITTEN_BYTES_PER_ROW,
              Limits.STATEMENT_WRITTEN_BYTES),
          new WorkLimit(
              Limits.STATEMENT_STEPS_BASE, Limits.STATEMENT_STEPS_PER_ROW, Limits.STATEMENT_STEPS),
          Limits.CHANGES_PER_TRANSACTION,
          Limits.TRANSACTION_WRITTEN_BYTES);

  /**
   * The limits of a user: less of what no statement may exceed. The bytes that every statement may
   * write stay, so that everybody can write large values.
   *
   * @param percent 1 to {@link Limits#FULL_WORK}
   */
  StoreLimits of(int percent) {
    return percent == Limits.FULL_WORK
        ? this
        : new StoreLimits(
            rows.atMost(part(rows.most(), percent)),
            bytes.atMost(Math.max(part(bytes.most(), percent), bytes.base())),
            steps.atMost(Math.max(part(steps.most(), percent), steps.base())),
            part(transactionChanges, percent),
            part(transactionBytes, percent));
  }

  static long part(long limit, int percent) {
    return limit * percent / Limits.FULL_WORK;
  }
}
