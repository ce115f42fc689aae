package dev.tollgate.cli.backup;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.PrintStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * Writes a backup whenever one is due, until its thread is interrupted. A backup that fails is
 * tried again, however often: what is away may come back.
 */
public final class BackupRounds {
  /** A machine that sleeps stops the time of a sleep; the clock goes on. */
  private static final Duration LONGEST_SLEEP = Duration.ofMinutes(1);

  private final BackupDirectory directory;
  private final BackupSource source;
  private final BackupSchedule schedule;
  private final Clock clock;
  private final Pause pause;
  private final PrintStream out;
  private final PrintStream err;

  /** How to wait. */
  public interface Pause {
    void forAbout(Duration time) throws InterruptedException;
  }

  /**
   * @param out gets a line for each backup
   * @param err gets a line for each backup that failed
   */
  public BackupRounds(
      BackupDirectory directory,
      BackupSource source,
      BackupSchedule schedule,
      Clock clock,
      Pause pause,
      PrintStream out,
      PrintStream err) {
    this.directory = requireNonNull(directory, "directory");
    this.source = requireNonNull(source, "source");
    this.schedule = requireNonNull(schedule, "schedule");
    this.clock = requireNonNull(clock, "clock");
    this.pause = requireNonNull(pause, "pause");
    this.out = requireNonNull(out, "out");
    this.err = requireNonNull(err, "err");
  }

  /**
   * Never returns.
   *
   * @throws InterruptedException if this thread was interrupted
   */
  public void run() throws InterruptedException {
    int failures = 0;
    while (true) {
      Instant now = clock.instant();
      awaitTime(
          failures == 0
              ? schedule.next(now, directory.newest())
              : now.plus(schedule.pauseAfter(failures)));
      try {
        out.println(directory.add(source, clock.instant()));
        failures = 0;
      } catch (IOException e) {
        failures++;
        err.println(
            "tollgate backup: no backup was written: "
                + (e.getMessage() == null ? e.toString() : e.getMessage())
                + "; the next attempt is in "
                + schedule.pauseAfter(failures).toSeconds()
                + " s");
      }
    }
  }

  private void awaitTime(Instant due) throws InterruptedException {
    Duration left = Duration.between(clock.instant(), due);
    while (left.compareTo(Duration.ZERO) > 0) {
      pause.forAbout(left.compareTo(LONGEST_SLEEP) < 0 ? left : LONGEST_SLEEP);
      Duration next = Duration.between(clock.instant(), due);
      // a clock that was set back while this waited does not make the wait longer
      left = next.compareTo(left) < 0 ? next : left.minus(LONGEST_SLEEP);
    }
  }
}
