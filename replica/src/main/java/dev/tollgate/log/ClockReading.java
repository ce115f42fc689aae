package dev.tollgate.log;

import java.util.concurrent.TimeUnit;

/**
 * What a wall clock said at a moment.
 *
 * @param wallMicros microseconds since 1970
 * @param atNanos when, on the monotonic clock of this node
 */
public record ClockReading(long wallMicros, long atNanos) {
  /** Returns what the clock says at another moment, if nobody has set it. */
  public long at(long nanos) {
    return wallMicros + TimeUnit.NANOSECONDS.toMicros(nanos - atNanos);
  }
}
