package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.util.List;

/** Each sync of one node waits; then all go on. */
final class HungDisk implements Fault {
  @Override
  public Injury inflict(Scene scene) throws IOException {
    Node victim = scene.victim();
    victim.hangSyncs();
    return Injury.of(
        "disk of " + scene.names(List.of(victim)) + " hangs",
        List.of(victim),
        scene.leavesQuorum(List.of(victim)),
        victim::healDisk);
  }
}
