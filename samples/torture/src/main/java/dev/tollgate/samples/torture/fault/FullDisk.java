package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * A full disk on one node. The node must stop by itself, and catches up when it is started again.
 */
final class FullDisk implements Fault {
  private static final Duration TIME_TO_STOP = Duration.ofSeconds(20);

  @Override
  public Injury inflict(Scene scene) throws IOException, InterruptedException {
    Node victim = scene.victim();
    victim.fillDisk();
    return Injury.of(
        "disk of " + scene.names(List.of(victim)) + " full",
        List.of(victim),
        scene.leavesQuorum(List.of(victim)),
        () -> heal(victim));
  }

  /**
   * Starts the node again after it has stopped. The probe writes all the time, so the node always
   * has something to write.
   */
  private static void heal(Node victim) throws IOException, InterruptedException {
    if (!victim.awaitEnd(TIME_TO_STOP)) {
      throw new IOException(
          victim.name()
              + " still ran "
              + TIME_TO_STOP.toSeconds()
              + " s after it could not write to its log any more");
    }
    Kill.restartFailed(victim, "on a full disk");
  }
}
