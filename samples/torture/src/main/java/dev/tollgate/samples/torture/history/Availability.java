package dev.tollgate.samples.torture.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * The times when probes were answered. One probe follows the other, so the time between two answers
 * is an outage.
 */
public final class Availability {
  /** Shorter pauses are no outage: a group commit on a slow disk, a garbage collection. */
  private static final long NOTICED_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final List<Operation> answered;
  private final long endNanos;

  private Availability(List<Operation> answered, long endNanos) {
    this.answered = answered;
    this.endNanos = endNanos;
  }

  /** A time without any answer. */
  public record Outage(long fromNanos, long untilNanos) {
    public long nanos() {
      return untilNanos - fromNanos;
    }
  }

  static Availability of(List<Operation> operations, long endNanos) {
    return new Availability(
        operations.stream()
            .filter(operation -> operation.is(Action.PROBE, Outcome.DONE))
            .sorted(Comparator.comparingLong(Operation::returnedNanos))
            .toList(),
        endNanos);
  }

  /** The outages in the order of time. The time before the first answer is not counted. */
  public List<Outage> outages() {
    List<Outage> outages = new ArrayList<>();
    for (int i = 0; i < answered.size(); i++) {
      long from = answered.get(i).returnedNanos();
      long until =
          i + 1 < answered.size() ? answered.get(i + 1).returnedNanos() : Math.max(endNanos, from);
      if (until - from > NOTICED_NANOS) {
        outages.add(new Outage(from, until));
      }
    }
    return outages;
  }

  /** The longest outage; 0 if there was none. */
  public long longestNanos() {
    return outages().stream().mapToLong(Outage::nanos).max().orElse(0);
  }

  /** How long after this moment the next answer came; empty if none did. */
  public OptionalLong answeredAfterNanos(long moment) {
    return answered.stream()
        .filter(probe -> probe.returnedNanos() >= moment)
        .mapToLong(probe -> probe.returnedNanos() - moment)
        .findFirst();
  }
}
