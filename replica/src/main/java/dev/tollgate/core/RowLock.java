package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

/** The lock of rows of a table that has one for each. */
record RowLock(FenceId fence, LockName lock) {
  RowLock {
    requireNonNull(fence, "fence");
    requireNonNull(lock, "lock");
  }
}
