package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import java.util.function.LongSupplier;

/**
 * The passing of time, as far as leases, silences and budgets see it.
 *
 * @param clock nanoseconds, as {@link System#nanoTime}
 */
record Timekeeping(LongSupplier clock, Timing timing) {
  static final Timekeeping STANDARD = new Timekeeping(System::nanoTime, Timing.STANDARD);

  Timekeeping {
    requireNonNull(clock, "clock");
    requireNonNull(timing, "timing");
  }

  long nanos() {
    return clock.getAsLong();
  }
}
