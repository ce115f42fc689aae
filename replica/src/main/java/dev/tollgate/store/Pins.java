package dev.tollgate.store;

import dev.tollgate.core.LogPosition;
import java.util.concurrent.TimeUnit;
import org.h2.util.DateTimeUtils;
import org.h2.value.ValueTimestampTimeZone;

/**
 * What a statement sees instead of the clock and of randomness: both follow from its place in the
 * log.
 *
 * @param now the time of the statement, in UTC
 * @param seed of all its random numbers
 */
record Pins(ValueTimestampTimeZone now, long seed) {
  /**
   * The pins of one execution of a statement; the executions of a batch differ by their number, and
   * the statements that one command sets going by their attempt.
   */
  static Pins of(LogPosition position, int attempt, int execution) {
    ValueTimestampTimeZone now = timestamp(position.timeMicros());
    long place = mix(mix(position.logIndex()) ^ position.ordinal());
    long seed = mix(mix(place ^ attempt) ^ execution);
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

  /** Microseconds since 1970-01-01T00:00:00Z as a timestamp in UTC. */
  static ValueTimestampTimeZone timestamp(long micros) {
    long day = Math.floorDiv(micros, TimeUnit.DAYS.toMicros(1));
    long microsOfDay = Math.floorMod(micros, TimeUnit.DAYS.toMicros(1));
    return ValueTimestampTimeZone.fromDateValueAndNanos(
        DateTimeUtils.dateValueFromAbsoluteDay(day), TimeUnit.MICROSECONDS.toNanos(microsOfDay), 0);
  }
}
