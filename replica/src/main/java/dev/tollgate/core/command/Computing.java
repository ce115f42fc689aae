package dev.tollgate.core.command;

import org.jspecify.annotations.Nullable;

/**
 * The environment in which statements of the log are computed, as part of the replicated state.
 *
 * @param environment the environment that a replica needs to apply a statement; null while it
 *     changes, and as long as no leader has stated one
 * @param changes true between two environments: statements that write are rejected, so that
 *     replicas of either environment apply the same
 */
public record Computing(@Nullable Environment environment, boolean changes) {
  /** No leader has stated an environment: the log is older than environments, or it is new. */
  public static final Computing ANYWHERE = new Computing(null, false);

  /** The state between two environments. */
  public static final Computing PAUSED = new Computing(null, true);

  public Computing {
    if (changes && environment != null) {
      throw new IllegalArgumentException("an environment that changes");
    }
  }

  /** Statements are computed in this environment. */
  public static Computing in(Environment environment) {
    return new Computing(environment, false);
  }
}
