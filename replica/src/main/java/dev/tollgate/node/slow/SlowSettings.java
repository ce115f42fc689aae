package dev.tollgate.node.slow;

import java.time.Duration;

/**
 * From when on a node reports that something takes long. Zero for a report that is never made.
 *
 * @param statement a statement, from its arrival to its answer
 * @param apply an entry of the log, on the thread that applies it
 * @param hold a hold of a lock
 * @param waiting a request that waits for a lock
 */
public record SlowSettings(Duration statement, Duration apply, Duration hold, Duration waiting) {
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

  public SlowSettings {
    requireNotNegative("statement", statement);
    requireNotNegative("apply", apply);
    requireNotNegative("hold", hold);
    requireNotNegative("waiting", waiting);
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
