package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

/**
 * A writer's claim to hold a lock under a token. The number may be anything; it is not verified
 * yet.
 */
public record PresentedToken(LockName lock, long token) {
  public PresentedToken {
    requireNonNull(lock, "lock");
  }
}
