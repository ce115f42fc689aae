package dev.tollgate.store;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.limits.WorkLimit;

/**
 * A database with a tenth of the limits on the cost of statements. A statement with a tenth of the
 * rows exceeds them if the statement with all rows exceeds the limits of the product, and is
 * refused after a tenth of the time.
 */
final class TenthOfLimits {
  private static final StoreLimits LIMITS =
      new StoreLimits(
          new WorkLimit(
              Limits.STATEMENT_ROWS_BASE / 10,
              Limits.STATEMENT_ROWS_PER_ROW,
              Limits.STATEMENT_ROWS / 10),
          new WorkLimit(
              Limits.STATEMENT_WRITTEN_BYTES_BASE / 10,
              Limits.STATEMENT_WRITTEN_BYTES_PER_ROW,
              Limits.STATEMENT_WRITTEN_BYTES / 10),
          new WorkLimit(
              Limits.STATEMENT_STEPS_BASE / 10,
              Limits.STATEMENT_STEPS_PER_ROW,
              Limits.STATEMENT_STEPS / 10),
          Limits.CHANGES_PER_TRANSACTION,
          Limits.TRANSACTION_WRITTEN_BYTES);

  private TenthOfLimits() {}

  static SqlDatabase database() {
    return new SqlDatabase(LIMITS);
  }
}
