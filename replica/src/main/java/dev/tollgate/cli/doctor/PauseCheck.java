package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How long this host keeps a thread from running that wants to, and whether its clock is steady. A
 * leader that pauses for the election timeout loses leadership.
 */
final class PauseCheck implements Check {
  private static final long NAP_NANOS = 1_000_000;

  /** More than that in some seconds is a clock that was set, and not one that is corrected. */
  private static final long STEP_MILLIS = 50;

  private final Duration measuring;
  private final Duration electionTimeout;

  PauseCheck(Duration measuring, Duration electionTimeout) {
    this.measuring = requireNonNull(measuring, "measuring");
    this.electionTimeout = requireNonNull(electionTimeout, "electionTimeout");
  }

  @Override
  public String subject() {
    return "pauses";
  }

  @Override
  public List<Finding> run() {
    long begin = System.nanoTime();
    long clock = System.currentTimeMillis();
    long longest = 0;
    long end = begin + measuring.toNanos();
    for (long now = begin; now < end && !Thread.currentThread().isInterrupted(); ) {
      LockSupport.parkNanos(NAP_NANOS);
      long later = System.nanoTime();
      longest = Math.max(longest, later - now - NAP_NANOS);
      now = later;
    }
    long steady = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    long step = System.currentTimeMillis() - clock - steady;
    return List.of(judge(longest / 1e6), clock(step));
  }

  Finding judge(double longestMillis) {
    double timeout = electionTimeout.toMillis();
    String fact =
        String.format(
            Locale.ROOT,
            "longest %.1f ms in %d s, election timeout %.0f ms",
            longestMillis,
            measuring.toSeconds(),
            timeout);
    String advice =
        "give the host more processors or fewer neighbors, or raise --election-timeout to "
            + (long) Math.ceil(longestMillis * 4 / 100) * 100
            + " on all nodes";
    if (longestMillis >= timeout) {
      return Finding.fail(subject(), fact, advice);
    }
    return longestMillis >= timeout / 4
        ? Finding.warn(subject(), fact, advice)
        : Finding.pass(subject(), fact);
  }

  Finding clock(long stepMillis) {
    return Math.abs(stepMillis) > STEP_MILLIS
        ? Finding.warn(
            "clock",
            "was set by " + stepMillis + " ms within " + measuring.toSeconds() + " s",
            "have one service correct the clock, slowly: chrony or systemd-timesyncd")
        : Finding.pass("clock", "steady for " + measuring.toSeconds() + " s");
  }
}
