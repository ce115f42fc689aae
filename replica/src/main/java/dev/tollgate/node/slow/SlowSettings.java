package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/**
 * From when on a node reports that something takes long. Zero for a report that is never made.
 *
 * @param statement a statement, from its arrival to its answer
 * @param apply an entry of the log, on the thread that applies it
 * @param hold a hold of a lock
 * @param waiting a request that waits for a lock
 * @param bounds from when on an entry that is still being applied makes the node unhealthy
 */
public record SlowSettings(
    Duration statement, Duration apply, Duration hold, Duration waiting, ApplyBounds bounds) {
  /** What a node reports unless it is told otherwise. */
  public static final SlowSettings STANDARD =
      new SlowSettings(
          Duration.ofSeconds(1),
          Duration.ofMillis(500),
          Duration.ofHours(1),
          Duration.ofMinutes(10));

  /** Nothing is reported. */
  public static final SlowSettings OFF =
      new SlowSettings(Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO);

  /** The reports of a node with the standard bounds. */
  public SlowSettings(Duration statement, Duration apply, Duration hold, Duration waiting) {
    this(statement, apply, hold, waiting, ApplyBounds.STANDARD);
  }

  public SlowSettings {
    requireNonNull(bounds, "bounds");
    requireNotNegative("statement", statement);
    requireNotNegative("apply", apply);
    requireNotNegative("hold", hold);
    requireNotNegative("waiting", waiting);
  }

  /** Returns these settings with other bounds. */
  public SlowSettings withBounds(ApplyBounds chosen) {
    return new SlowSettings(statement, apply, hold, waiting, chosen);
  }

  private static void requireNotNegative(String name, Duration duration) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException(name + ": " + duration);
    }
  }

  /** The time in nanoseconds, or more than anything takes if nothing is to be reported. */
  static long nanos(Duration threshold) {
    return threshold.isZero() ? Long.MAX_VALUE : threshold.toNanos();
  }
}
