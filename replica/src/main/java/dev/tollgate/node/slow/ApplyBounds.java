package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import java.time.Duration;

/**
 * For how long an entry of the log may be under way.
 *
 * @param late after that the node is not ready
 * @param stalled after that the node does not live
 */
public record ApplyBounds(Duration late, Duration stalled) {
  /** The bounds of all nodes but those of tests. */
  public static final ApplyBounds STANDARD =
      new ApplyBounds(
          Duration.ofMillis(Limits.APPLY_LATE_MILLIS),
          Duration.ofMillis(Limits.APPLY_STALLED_MILLIS));

  public ApplyBounds {
    requireNonNull(late, "late");
    requireNonNull(stalled, "stalled");
  }
}
