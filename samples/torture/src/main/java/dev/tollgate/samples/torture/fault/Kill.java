package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.util.List;

/** kill -9 of one node, of a majority, or of all at once. */
final class Kill implements Fault {
  private static final double SEVERAL = 0.3;

  @Override
  public Injury inflict(Scene scene) {
    List<Node> victims = scene.victims(SEVERAL);
    for (Node victim : victims) {
      victim.kill();
    }
    return Injury.of(
        "kill -9 of " + scene.names(victims),
        victims,
        scene.leavesQuorum(victims),
        () -> restart(victims));
  }

  /** Returns when all nodes are ready: the start of virtual machines is not measured. */
  /**
   * Starts a node again that has stopped by itself.
   *
   * @throws IOException if it did not end as a node that has failed
   */
  static void restartFailed(Node victim, String when) throws IOException, InterruptedException {
    if (victim.exitStatus() != Node.REPLICA_FAILED) {
      throw new IOException(
          victim.name()
              + " ended with status "
              + victim.exitStatus()
              + " "
              + when
              + ", not with "
              + Node.REPLICA_FAILED);
    }
    restart(List.of(victim));
  }

  static void restart(List<Node> nodes) throws IOException, InterruptedException {
    for (Node node : nodes) {
      node.start();
    }
    for (Node node : nodes) {
      node.awaitReady();
    }
  }
}
