package dev.tollgate.cli.backup;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * When the next backup is due.
 *
 * @param every time from the beginning of one backup to the beginning of the next one
 */
public record BackupSchedule(Duration every) {
  public static final Duration SHORTEST = Duration.ofSeconds(1);
  public static final Duration LONGEST = Duration.ofDays(366);

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

  public BackupSchedule {
    requireNonNull(every, "every");
    if (every.compareTo(SHORTEST) < 0 || every.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException("every: " + every);
    }
  }

  /**
   * A process that is started again and again does not write more backups than one that goes on:
   * they would push out the older ones. A newest backup of the future, from a clock that was set
   * back, does not stop backups for longer than {@link #every}.
   *
   * @param newest when the newest backup was begun
   */
  Instant next(Instant now, Optional<Instant> newest) {
    Instant latest = now.plus(every);
    return newest
        .map(begun -> begun.plus(every))
        .map(due -> due.isBefore(now) ? now : due.isAfter(latest) ? latest : due)
        .orElse(now);
  }

  /** Doubles from 5 s up to 5 min, and is never longer than {@link #every}. */
  Duration pauseAfter(int failures) {
    Duration pause = FIRST_PAUSE;
    for (int i = 1; i < failures && pause.compareTo(LONGEST_PAUSE) < 0; i++) {
      pause = pause.multipliedBy(2);
    }
    pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    return pause.compareTo(every) < 0 ? pause : every;
  }
}
