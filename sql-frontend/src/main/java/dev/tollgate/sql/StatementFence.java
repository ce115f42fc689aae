package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

/**
 * {@code FENCED [MONOTONIC] BY LOCK lock TOKEN token} at the end of a write, or after SET for all
 * writes of a session.
 *
 * @param lock an {@link Argument.Text} of 1 to {@link SqlLimits#LOCK_NAME_LENGTH} characters, or an
 *     {@link Argument.Parameter}
 * @param token an {@link Argument.Integral}, not negative, or an {@link Argument.Parameter}
 * @param monotonic if false, the write is applied only if the lock is held under the token. If
 *     true, the token is presented to the tables that the lock fences, and each table's own fence
 *     accepts or refuses the token
 */
public record StatementFence(Argument lock, Argument token, boolean monotonic) {

  public StatementFence {
    requireNonNull(lock, "lock");
    requireNonNull(token, "token");
  }
}
