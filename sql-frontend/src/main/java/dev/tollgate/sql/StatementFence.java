package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

/**
 * {@code FENCED [MONOTONIC] BY LOCK lock TOKEN token} at the end of a write.
 *
 * @param lock an {@link Argument.Text} of 1 to {@link SqlLimits#LOCK_NAME_LENGTH} characters, or an
 *     {@link Argument.Parameter}
 * @param token an {@link Argument.Integral}, not negative, or an {@link Argument.Parameter}
 * @param monotonic false: the write is applied only if the lock is held under the token. True: the
 *     token is shown to the tables that are fenced by the lock, and each takes it or not as its own
 *     fence says
 */
public record StatementFence(Argument lock, Argument token, boolean monotonic) {

  public StatementFence {
    requireNonNull(lock, "lock");
    requireNonNull(token, "token");
  }
}
