package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import java.util.function.LongSupplier;

/**
 * The passing of time, as far as leases, silences and budgets see it.
 *
 * @param clock nanoseconds, as {@link System#nanoTime}
 */
record Environment(LongSupplier clock, Timing timing) {
  static final Environment STANDARD = new Environment(System::nanoTime, Timing.STANDARD);

  Environment {
    requireNonNull(clock, "clock");
    requireNonNull(timing, "timing");
  }

  long nanos() {
    return clock.getAsLong();
  }
}
