package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

/** The lock of rows of a table that has a lock for each row. */
public record RowLock(FenceId fence, LockName lock) {
  public RowLock {
    requireNonNull(fence, "fence");
    requireNonNull(lock, "lock");
  }
}
