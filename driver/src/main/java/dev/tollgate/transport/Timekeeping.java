package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import java.util.function.LongSupplier;

/**
 * The clock and the timing that leases, silence checks and budgets use.
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
