package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * A sync of one node fails with EIO. The node must stop by itself, unless the sync was that of a
 * snapshot, without which it can do; then the next one fails too.
 */
final class FailedSync implements Fault {
  private static final Duration TIME_TO_STOP = Duration.ofSeconds(5);
  private static final int SYNCS = 4;

  @Override
  public Injury inflict(Scene scene) throws IOException {
    Node victim = scene.victim();
    victim.failNextSync();
    return Injury.of(
        "a sync of " + scene.names(List.of(victim)) + " fails",
        List.of(victim),
        scene.leavesQuorum(List.of(victim)),
        () -> heal(victim));
  }

  private static void heal(Node victim) throws IOException, InterruptedException {
    for (int failed = 1; !victim.awaitEnd(TIME_TO_STOP); failed++) {
      if (failed == SYNCS) {
        throw new IOException(victim.name() + " still ran after " + SYNCS + " syncs had failed");
      }
      victim.failNextSync();
    }
    victim.healDisk();
    Kill.restartFailed(victim, "after a sync had failed");
  }
}
