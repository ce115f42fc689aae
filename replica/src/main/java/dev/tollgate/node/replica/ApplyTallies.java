package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Tally;
import dev.tollgate.core.command.LogPosition;
import java.util.concurrent.TimeUnit;

/**
 * Counts the entries that a replica applies, but for those that are older than the process ({@link
 * dev.tollgate.core.LockTallies} says why). Not thread-safe: the apply thread counts, and others
 * read between two entries.
 */
final class ApplyTallies {
  private static final long[] TIMES = {
    50, 100, 250, 500, 1_000, 2_500, 10_000, 50_000, 250_000, 1_000_000, 5_000_000
  };
  private static final long[] SIZES = {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1_024};

  /**
   * What was counted so far.
   *
   * @param micros how long each entry took
   * @param sizes how many commands each entry had
   * @param longestMicros how long the slowest entry took
   */
  record Counts(Tally.Count micros, Tally.Count sizes, long longestMicros) {
    Counts {
      requireNonNull(micros, "micros");
      requireNonNull(sizes, "sizes");
    }
  }

  private final long fromMicros;
  private final Tally micros = new Tally(TIMES);
  private final Tally sizes = new Tally(SIZES);
  private long longestMicros;

  /**
   * @param fromMicros log time from which on entries are counted, microseconds since 1970
   */
  ApplyTallies(long fromMicros) {
    this.fromMicros = fromMicros;
  }

  void add(LogPosition last, int commands, long nanos) {
    if (last.timeMicros() >= fromMicros) {
      long took = TimeUnit.NANOSECONDS.toMicros(nanos);
      micros.add(took);
      sizes.add(commands);
      longestMicros = Math.max(longestMicros, took);
    }
  }

  Counts counts() {
    return new Counts(micros.count(), sizes.count(), longestMicros);
  }
}
