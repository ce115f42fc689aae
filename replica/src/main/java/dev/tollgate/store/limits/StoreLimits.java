package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;

/**
 * What statements of the log may cost, the same on every replica.
 *
 * @param rows what one execution of a statement may look at
 * @param bytes what it may write
 * @param transactionChanges what a transaction may hold before its next statement
 * @param transactionBytes what it may have written by then
 */
public record StoreLimits(
    WorkLimit rows, WorkLimit bytes, long transactionChanges, long transactionBytes) {
  /** Those of {@link Limits}. */
  public static final StoreLimits DEFAULT =
      new StoreLimits(
          new WorkLimit(
              Limits.STATEMENT_ROWS_BASE, Limits.STATEMENT_ROWS_PER_ROW, Limits.STATEMENT_ROWS),
          new WorkLimit(
              Limits.STATEMENT_WRITTEN_BYTES_BASE,
              Limits.STATEMENT_WRITTEN_BYTES_PER_ROW,
              Limits.STATEMENT_WRITTEN_BYTES),
          Limits.CHANGES_PER_TRANSACTION,
          Limits.TRANSACTION_WRITTEN_BYTES);
}
