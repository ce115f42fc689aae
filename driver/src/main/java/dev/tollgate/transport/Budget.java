package dev.tollgate.transport;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * The time for which one request is still tried. The budget runs while no healthy node has the
 * request. It starts anew with each sign of life from a node that works on the request. A wait for
 * a lock therefore does not use it up. Used by one thread.
 */
final class Budget {
  private static final long FIRST_PAUSE_MILLIS = 10;
  private static final long LONGEST_PAUSE_MILLIS = 200;

  private final Timekeeping environment;
  private final Duration allowed;
  private final BooleanSupplier withdrawn;
  private final boolean limited;
  private final long limitNanos;
  private long healthyNanos;
  private long nextPauseMillis;

  /**
   * @param allowed longest time without a healthy node
   * @param limit longest time in all, zero for no limit
   * @param withdrawn true as soon as no caller waits for the request any more
   */
  Budget(Timekeeping environment, Duration allowed, Duration limit, BooleanSupplier withdrawn) {
    this.environment = environment;
    this.allowed = allowed;
    this.withdrawn = withdrawn;
    this.healthyNanos = environment.nanos();
    this.limited = !limit.isZero();
    this.limitNanos = healthyNanos + limit.toNanos();
  }

  /** Starts the budget anew: a node that has the request has given a sign of life. */
  void healthy() {
    healthyNanos = environment.nanos();
    nextPauseMillis = 0;
  }

  boolean spent() {
    return withdrawn.getAsBoolean() || leftNanos() <= 0 || limitReached();
  }

  boolean limitReached() {
    return limited && limitNanos - environment.nanos() <= 0;
  }

  /** This time, but not more than is left while no node is healthy. */
  Duration within(Duration wish) {
    return Duration.ofNanos(Math.max(0, Math.min(wish.toNanos(), leftNanos())));
  }

  /** This time, but not more than is left while a healthy node has the request. */
  Duration withinLimit(Duration wish) {
    return limited
        ? Duration.ofNanos(Math.max(0, Math.min(wish.toNanos(), limitNanos - environment.nanos())))
        : wish;
  }

  private long leftNanos() {
    long now = environment.nanos();
    long left = healthyNanos + allowed.toNanos() - now;
    return limited ? Math.min(left, limitNanos - now) : left;
  }

  /**
   * Pauses before the next try: not at all the first time, then longer each time. A pause ends
   * early when a leader of a later term becomes known. An interrupt ends neither the pause nor the
   * request.
   *
   * @param knownTerm the latest term in which a leader was known before the last try
   * @return false if there is no next try
   */
  boolean pause(LeaderNews news, long knownTerm) {
    if (!spent() && nextPauseMillis > 0) {
      Duration pause = within(Duration.ofMillis(nextPauseMillis)).plusMillis(1);
      PatientWait.until(
          System.nanoTime() + pause.toNanos(), nanos -> news.awaitLater(knownTerm, nanos));
    }
    nextPauseMillis =
        Math.min(Math.max(FIRST_PAUSE_MILLIS, nextPauseMillis * 2), LONGEST_PAUSE_MILLIS);
    return !spent();
  }
}
