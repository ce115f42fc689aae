package dev.tollgate.store;

import dev.tollgate.core.Limits;

/**
 * What statements of the log may cost, the same on every replica.
 *
 * @param rows what one execution of a statement may look at
 * @param bytes what it may write
 * @param transactionChanges what a transaction may hold before its next statement
 * @param transactionBytes what it may have written by then
 */
record StoreLimits(long rows, long bytes, long transactionChanges, long transactionBytes) {
  /** Those of {@link Limits}. */
  static final StoreLimits DEFAULT =
      new StoreLimits(
          Limits.STATEMENT_ROWS,
          Limits.STATEMENT_WRITTEN_BYTES,
          Limits.CHANGES_PER_TRANSACTION,
          Limits.TRANSACTION_WRITTEN_BYTES);
}
