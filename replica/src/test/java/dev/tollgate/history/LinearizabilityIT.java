package dev.tollgate.history;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.cluster.ClusterContainers;
import dev.tollgate.cluster.ClusterProcesses;
import dev.tollgate.cluster.NodeProcess;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients use locks, leases, fenced and unfenced registers through the driver, while leaders are
 * killed and stopped; afterwards what they saw has to be linearizable (invariants I1 to I4, I6,
 * I10). -Dtollgate.seed makes clients draw the same random numbers again; -Dtollgate.rounds says
 * how often a leader is killed and another one stopped. Unless that is said, it runs where {@link
 * ContainersIT}, which does the same and more, cannot.
 */
class LinearizabilityIT {
  private static final long SEED = Long.getLong("tollgate.seed", System.nanoTime());
  private static final int ROUNDS = Integer.getInteger("tollgate.rounds", 1);
  private static final int ANSWERS_BETWEEN_FAULTS = 700;

  @TempDir Path directory;

  @Test
  void whatClientsSeeHasAnOrder() throws Exception {
    assumeTrue(
        Integer.getInteger("tollgate.rounds") != null || ClusterContainers.missing().isPresent(),
        "ContainersIT does this and more");
    System.out.println("LinearizabilityIT: -Dtollgate.seed=" + SEED);
    try (ClusterProcesses cluster = new ClusterProcesses("LinearizabilityIT", directory, 3);
        CellWorkload workload = new CellWorkload(cluster::connect, SEED)) {
      for (int round = 0; round < ROUNDS; round++) {
        workload.awaitAnswers(ANSWERS_BETWEEN_FAULTS);
        NodeProcess killed = cluster.leader();
        killed.kill();
        workload.awaitAnswers(ANSWERS_BETWEEN_FAULTS);
        killed.startAndAwait();
        workload.awaitAnswers(ANSWERS_BETWEEN_FAULTS);
        NodeProcess paused = cluster.leader();
        paused.pause();
        workload.awaitAnswers(ANSWERS_BETWEEN_FAULTS);
        paused.resume();
      }
      workload.awaitAnswers(ANSWERS_BETWEEN_FAULTS);
      workload.stopAndCheck();
    }
  }
}
