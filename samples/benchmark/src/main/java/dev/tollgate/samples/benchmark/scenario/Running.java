package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.system.Ability;
import dev.tollgate.samples.benchmark.system.Ensemble;
import dev.tollgate.samples.benchmark.system.Kind;
import dev.tollgate.samples.benchmark.system.LockSystem;
import java.util.Optional;

/** A system whose servers run, and its clients. */
public record Running(Kind kind, LockSystem system, Ensemble servers) {
  /** Why the system cannot take part where this ability is needed; empty if it can. */
  Optional<String> lacks(Ability ability) {
    if (!system.abilities().contains(ability)) {
      return Optional.of(ability.lacking());
    }
    if (ability == Ability.FAIL_OVER && !servers.survivesItsLeader()) {
      return Optional.of("too few servers to go on without one");
    }
    boolean otherProcess = ability == Ability.OUTLIVE_HOLDERS || ability == Ability.KEEP_LEASES;
    return otherProcess && !servers.isReachable()
        ? Optional.of("no other process can reach a node that is embedded in this one")
        : Optional.empty();
  }
}
