package dev.tollgate.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What goes wrong in a run, and when: a list, so that a failing run can be tried with less. */
final class Faults {
  /** Kinds of faults. */
  enum Kind {
    CRASH_NODE,
    CRASH_LEADER,
    CRASH_ALL,
    PAUSE_NODE,
    PAUSE_LEADER,
    ISOLATE_NODE,
    ISOLATE_LEADER_FROM_NODES,
    ONE_WAY,
    SPLIT,
    CUT_CLIENT,
    LOSSY,
    SLOW,
    JUMP_CLOCK,
    RESET_CONNECTIONS,
    PAUSE_CLIENT,
    CRASH_CLIENT
  }

  /**
   * One fault.
   *
   * @param dice decides whom it hits
   */
  record Fault(long atNanos, Kind kind, long lastsNanos, int dice) {}

  private Faults() {}

  static List<Fault> plan(Simulation.Settings settings) {
    Random random = new Random(settings.seed() * 31 + 7);
    List<Fault> plan = new ArrayList<>();
    Kind[] kinds = Kind.values();
    // some runs have few faults, others hardly a moment without one
    long meanMillis = settings.workload().betweenFaultsMillis(random);
    int longest = settings.workload().longestFaultMillis();
    long at = Simulation.SET_UP;
    long end = at + World.millis(settings.faultyMillis());
    while (true) {
      at += World.millis((long) (-Math.log(1 - random.nextDouble()) * meanMillis));
      if (at >= end) {
        return plan;
      }
      Kind kind = kinds[random.nextInt(kinds.length)];
      long lasts = World.millis(20 + (long) (Math.pow(random.nextDouble(), 3) * longest));
      plan.add(new Fault(at, kind, lasts, random.nextInt(1 << 30)));
    }
  }
}
