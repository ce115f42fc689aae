package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Which refusals of other nodes have a line in the log: each one once, until there are {@link
 * Limits#LOGGED_REFUSALS}. A minute after the first of them all are forgotten, so a stranger with
 * many names fills no disk and does not silence what comes later. Thread-safe.
 */
final class LoggedRefusals {
  private static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();

  private final LongSupplier nanoTime;
  private final Set<String> logged = new HashSet<>();
  private long sinceNanos;

  LoggedRefusals(LongSupplier nanoTime) {
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
  }

  /** True if this refusal has a line now. */
  synchronized boolean add(String refusal) {
    long now = nanoTime.getAsLong();
    if (logged.contains(refusal)) {
      return false;
    }
    if (logged.size() >= Limits.LOGGED_REFUSALS && now - sinceNanos >= MINUTE_NANOS) {
      logged.clear();
    }
    if (logged.isEmpty()) {
      sinceNanos = now;
    }
    return logged.size() < Limits.LOGGED_REFUSALS && logged.add(refusal);
  }
}
