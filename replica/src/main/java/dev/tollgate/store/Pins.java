package dev.tollgate.store;

import dev.tollgate.core.LogPosition;
import org.h2.value.ValueTimestampTimeZone;

/**
 * What a statement sees instead of the clock and of randomness: both follow from its place in the
 * log.
 *
 * @param now the time of the statement, in UTC
 * @param seed of all its random numbers
 */
record Pins(ValueTimestampTimeZone now, long seed) {
  /** The pins of one execution of a statement; the executions of a batch differ by their number. */
  static Pins of(LogPosition position, int execution) {
    ValueTimestampTimeZone now = SystemFunctions.timestamp(position.timeMicros());
    long seed = mix(mix(mix(position.logIndex()) ^ position.ordinal()) ^ execution);
    return new Pins(now, seed);
  }

  /**
   * The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): neighbours become strangers.
   */
  private static long mix(long z) {
    long x = z + 0x9e3779b97f4a7c15L;
    x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
    x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
    return x ^ (x >>> 31);
  }
}
