package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Network;
import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.util.List;

/** Delays all that one node sends, or all that any node sends. */
final class SlowLinks implements Fault {
  private static final double SEVERAL = 0.5;

  @Override
  public Injury inflict(Scene scene) throws IOException, InterruptedException {
    List<Node> victims = scene.victims(SEVERAL);
    Network network = scene.cluster().network();
    for (Node victim : victims) {
      network.slow(victim.host());
    }
    return Injury.of(
        "links of " + scene.names(victims) + " slow (" + network.slowness() + ")",
        victims,
        scene.leavesQuorum(victims),
        network::heal);
  }
}
