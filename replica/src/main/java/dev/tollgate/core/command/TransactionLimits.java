package dev.tollgate.core.command;

/**
 * How long transactions may be open, as part of the replicated state.
 *
 * @param ageMillis from the beginning of a transaction to its end
 * @param idleMillis from one statement to the next
 */
public record TransactionLimits(long ageMillis, long idleMillis) {
  /** The limits until the cluster sets others. */
  public static final TransactionLimits STANDARD =
      new TransactionLimits(Limits.TRANSACTION_MILLIS, Limits.TRANSACTION_IDLE_MILLIS);

  /**
   * @throws IllegalArgumentException if one of the limits is not between {@link
   *     Limits#TRANSACTION_LIMIT_MIN_MILLIS} and {@link Limits#TRANSACTION_LIMIT_MAX_MILLIS}
   */
  public TransactionLimits {
    requireWithinBounds("age", ageMillis);
    requireWithinBounds("idle", idleMillis);
  }

  private static void requireWithinBounds(String name, long millis) {
    if (millis < Limits.TRANSACTION_LIMIT_MIN_MILLIS
        || millis > Limits.TRANSACTION_LIMIT_MAX_MILLIS) {
      throw new IllegalArgumentException(
          name
              + " has to be from "
              + Limits.TRANSACTION_LIMIT_MIN_MILLIS
              + " to "
              + Limits.TRANSACTION_LIMIT_MAX_MILLIS
              + " ms, not "
              + millis);
    }
  }
}
