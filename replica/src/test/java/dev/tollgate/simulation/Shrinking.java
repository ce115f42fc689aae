package dev.tollgate.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * Tries a run that failed with fewer faults and fewer statements, as long as it fails in the same
 * way.
 */
final class Shrinking {
  private final Simulation.Settings settings;
  private final String invariant;
  private int runsLeft;
  private List<Faults.Fault> plan;
  private Simulation.Result smallest;
  private long statements = Long.MAX_VALUE;

  private Shrinking(Simulation.Settings settings, Simulation.Result failed, int runs) {
    this.settings = settings;
    this.invariant = invariantOf(failed);
    this.runsLeft = runs;
    this.plan = Faults.plan(settings);
    this.smallest = failed;
  }

  /** What is left: the faults, and how the run with them fails. */
  record Shrunk(List<Faults.Fault> faults, long statements, Simulation.Result result) {
    String describe() {
      StringBuilder text = new StringBuilder();
      text.append(result.violation()).append("\nwith these faults:");
      faults.forEach(fault -> text.append("\n  ").append(fault));
      text.append("\nwhat happened last:");
      result.trace().forEach(line -> text.append("\n  ").append(line));
      return text.toString();
    }
  }

  static Shrunk of(Simulation.Settings settings, Simulation.Result failed, int runs) {
    Shrinking shrinking = new Shrinking(settings, failed, runs);
    shrinking.dropFaults();
    shrinking.dropStatements();
    return new Shrunk(shrinking.plan, shrinking.statements, shrinking.smallest);
  }

  /** Takes parts of the plan away, large ones first. */
  private void dropFaults() {
    for (int size = Math.max(1, plan.size() / 2); size >= 1; size = size == 1 ? 0 : size / 2) {
      for (int from = plan.size() - size; from >= 0; from -= size) {
        List<Faults.Fault> fewer = new ArrayList<>(plan);
        fewer.subList(from, Math.min(fewer.size(), from + size)).clear();
        if (fails(fewer, statements)) {
          plan = fewer;
        }
      }
    }
  }

  private void dropStatements() {
    long fewer = smallest.counts().getOrDefault("statements", 0L) / 2;
    while (fewer > 0 && fails(plan, fewer)) {
      statements = fewer;
      fewer /= 2;
    }
  }

  private boolean fails(List<Faults.Fault> faults, long maxStatements) {
    if (runsLeft-- <= 0) {
      return false;
    }
    Simulation.Result result = Simulation.run(settings.withAtMost(maxStatements), faults);
    boolean same = invariantOf(result).equals(invariant);
    if (same) {
      smallest = result;
    }
    return same;
  }

  private static String invariantOf(Simulation.Result result) {
    Violation violation = result.violation();
    return violation == null ? "" : violation.invariant();
  }
}
