package dev.tollgate.samples.torture.report;

import dev.tollgate.samples.torture.cluster.Snapshots;
import dev.tollgate.samples.torture.history.Evidence;
import dev.tollgate.samples.torture.history.Violation;
import dev.tollgate.samples.torture.workload.Probe;
import java.util.List;

/**
 * A run that is over, as the report needs it.
 *
 * @param command the command that repeats the run
 * @param leftOut requested faults that could not be injected, with the reason
 * @param leaderships in the order of time
 */
public record Tale(
    String command,
    long seed,
    int nodes,
    List<String> leftOut,
    List<Probe.Leadership> leaderships,
    Snapshots snapshots,
    Evidence evidence,
    List<Violation> violations) {

  public Tale {
    leftOut = List.copyOf(leftOut);
    leaderships = List.copyOf(leaderships);
    violations = List.copyOf(violations);
  }
}
