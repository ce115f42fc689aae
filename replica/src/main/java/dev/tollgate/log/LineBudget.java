package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Room for things that clients can cause in any number, such as log lines: some at once, and after
 * that one in each period. Counts what finds no room. Thread-safe.
 */
public final class LineBudget {
  private final int atOnce;
  private final long periodNanos;
  private final LongSupplier nanoTime;
  private long fullNanos;
  private long leftOut;

  /**
   * @param atOnce how many there is room for at once
   * @param period the time in which there is room for another one
   */
  public LineBudget(int atOnce, Duration period, LongSupplier nanoTime) {
    if (atOnce < 1 || period.isZero() || period.isNegative()) {
      throw new IllegalArgumentException(atOnce + " at once, one in " + period);
    }
    this.atOnce = atOnce;
    this.periodNanos = period.toNanos();
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
    this.fullNanos = nanoTime.getAsLong();
  }

  /** What a line says of those before it that found no room; empty if there were none. */
  public static String leftOut(long lines) {
    return lines == 0 ? "" : " (and " + lines + " such lines were left out)";
  }

  /** Takes room for one; returns how many were left out before it, or -1 if there is no room. */
  public synchronized long take() {
    long now = nanoTime.getAsLong();
    // from this moment on there is room for all again
    long full = Math.max(fullNanos - now, 0) + periodNanos;
    if (full > atOnce * periodNanos) {
      leftOut++;
      return -1;
    }
    fullNanos = now + full;
    long before = leftOut;
    leftOut = 0;
    return before;
  }
}
