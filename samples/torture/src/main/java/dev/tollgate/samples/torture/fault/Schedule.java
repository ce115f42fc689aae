package dev.tollgate.samples.torture.fault;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * The order and times of faults: a function of the seed and of the kinds. Every kind comes once
 * before any kind comes again.
 */
public final class Schedule {
  private static final int SHORTEST_PEACE_MILLIS = 1_000;
  private static final int LONGEST_PEACE_MILLIS = 3_000;

  private final List<FaultKind> kinds;
  private final Random random;
  private final Deque<FaultKind> round = new ArrayDeque<>();

  public Schedule(long seed, Collection<FaultKind> kinds) {
    if (kinds.isEmpty()) {
      throw new IllegalArgumentException("a schedule of nothing");
    }
    this.kinds = List.copyOf(kinds);
    this.random = new Random(seed);
  }

  /**
   * One fault.
   *
   * @param peaceMillis time without faults before this fault, from when the cluster answered again
   *     after the last fault
   * @param faultMillis how long the fault lasts
   * @param seed the seed of its details
   */
  public record Step(FaultKind kind, int peaceMillis, int faultMillis, long seed) {}

  /** The next fault. */
  public Step next() {
    if (round.isEmpty()) {
      List<FaultKind> order = new ArrayList<>(kinds);
      Collections.shuffle(order, random);
      round.addAll(order);
    }
    FaultKind kind = round.remove();
    return new Step(
        kind,
        between(SHORTEST_PEACE_MILLIS, LONGEST_PEACE_MILLIS),
        between(kind.shortestMillis(), kind.longestMillis()),
        random.nextLong());
  }

  private int between(int least, int most) {
    return least + random.nextInt(most - least + 1);
  }
}
