package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

/**
 * {@code FENCED [MONOTONIC] BY LOCK 'name'} of a table: from now on every write to the table needs
 * a token of that lock.
 *
 * @param lockName 1 to {@link SqlLimits#LOCK_NAME_LENGTH} characters
 */
public record TableFence(String lockName, Reading reading) {

  /** Which tokens the table takes. */
  public enum Reading {
    /** Only the token under which the lock is held at this moment. */
    HELD,
    /** Every token that is not lower than the highest one the table has taken. */
    MONOTONIC
  }

  public TableFence {
    requireNonNull(lockName, "lockName");
    requireNonNull(reading, "reading");
  }
}
