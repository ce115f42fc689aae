package dev.tollgate.node.replica;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The clock by which leases expire: the monotonic clock without the pauses of this process. A
 * leader that was stopped, or swapped out, or collecting garbage, could not hear renewals, so that
 * time does not count. Read at least every {@value #TICK_MILLIS} ms while anything depends on it.
 * Thread-safe.
 */
final class LeaseClock {
  static final long TICK_MILLIS = 50;

  /** Longer gaps between two reads are pauses. Shorter gaps are normal on a busy machine. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final LongSupplier nanoTime;
  private long lastNanos;
  private long pausedNanos;

  LeaseClock(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.lastNanos = nanoTime.getAsLong();
  }

  /** Nanoseconds from a fixed point; only differences mean anything. */
  synchronized long now() {
    long nanos = nanoTime.getAsLong();
    long silence = nanos - lastNanos;
    if (silence > PAUSE_NANOS) {
      pausedNanos += silence - TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);
    }
    lastNanos = nanos;
    return nanos - pausedNanos;
  }
}
