package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.util.List;

/** SIGSTOP of one node, of a majority, or of all: their connections stay open and silent. */
final class Pause implements Fault {
  private static final double SEVERAL = 0.3;

  @Override
  public Injury inflict(Scene scene) throws IOException, InterruptedException {
    List<Node> victims = scene.victims(SEVERAL);
    for (Node victim : victims) {
      victim.pause();
    }
    return Injury.of(
        "SIGSTOP of " + scene.names(victims),
        victims,
        scene.leavesQuorum(victims),
        () -> {
          for (Node victim : victims) {
            victim.resume();
          }
        });
  }
}
