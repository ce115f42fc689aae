package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;

/**
 * Limits on the cost of statements of the log, the same on every replica.
 *
 * @param rows rows that one execution of a statement may examine
 * @param bytes bytes that one execution may write
 * @param transactionChanges changes that a transaction may hold before its next statement
 * @param transactionBytes bytes that a transaction may have written before its next statement
 */
public record StoreLimits(
    WorkLimit rows, WorkLimit bytes, long transactionChanges, long transactionBytes) {
  /** The limits that {@link Limits} states. */
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
