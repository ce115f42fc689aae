package dev.tollgate.core.command;

import org.jspecify.annotations.Nullable;

/**
 * With what the statements of the log are computed, as part of the replicated state.
 *
 * @param environment the one that every replica needs that applies a statement; null as long as no
 *     leader has stated one, and while it changes
 * @param changes true between two environments: statements that write are refused, so that replicas
 *     of either apply the same
 */
public record Computing(@Nullable Environment environment, boolean changes) {
  /** No leader has stated an environment: the log is older than that, or begins. */
  public static final Computing ANYWHERE = new Computing(null, false);

  /** Between two environments. */
  public static final Computing PAUSED = new Computing(null, true);

  public Computing {
    if (changes && environment != null) {
      throw new IllegalArgumentException("an environment that changes");
    }
  }

  /** From now on in this one. */
  public static Computing in(Environment environment) {
    return new Computing(environment, false);
  }
}
