package dev.tollgate.history;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.cluster.ClusterContainers;
import dev.tollgate.cluster.NodeContainer;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * As {@link LinearizabilityIT}, with nodes in containers, so that leaders can also be cut off from
 * the network: no acknowledged write is lost, no token comes twice, no stale write is accepted, and
 * the replicas are equal in the end.
 */
class ContainersIT {
  private static final long SEED = Long.getLong("tollgate.seed", System.nanoTime());
  private static final int ROUNDS = Integer.getInteger("tollgate.rounds", 1);
  private static final int ANSWERS_BETWEEN_FAULTS = 300;

  /** What happens to a leader, and how it ends. */
  private enum Fault {
    /** The other nodes do not hear it any more; clients still do. */
    DEPOSED {
      @Override
      void begin(NodeContainer leader, ClusterContainers cluster) {
        leader.disconnect(cluster.raft());
      }

      @Override
      void end(NodeContainer leader, ClusterContainers cluster) {
        leader.connect(cluster.raft());
      }
    },
    /** Nobody hears it any more. */
    CUT_OFF {
      @Override
      void begin(NodeContainer leader, ClusterContainers cluster) {
        leader.disconnect(cluster.raft());
        leader.disconnect(cluster.clients());
      }

      @Override
      void end(NodeContainer leader, ClusterContainers cluster) {
        leader.connect(cluster.raft());
        leader.connect(cluster.clients());
      }
    },
    PAUSED {
      @Override
      void begin(NodeContainer leader, ClusterContainers cluster) {
        leader.pause();
      }

      @Override
      void end(NodeContainer leader, ClusterContainers cluster) {
        leader.resume();
      }
    },
    KILLED {
      @Override
      void begin(NodeContainer leader, ClusterContainers cluster) {
        leader.kill();
      }

      @Override
      void end(NodeContainer leader, ClusterContainers cluster) {
        leader.restart();
      }
    };

    abstract void begin(NodeContainer leader, ClusterContainers cluster);

    abstract void end(NodeContainer leader, ClusterContainers cluster);
  }

  @Test
  void leadersAreCutOffPausedAndKilled() throws Exception {
    Optional<String> missing = ClusterContainers.missing();
    missing.ifPresent(what -> System.out.println("ContainersIT IS SKIPPED: " + what));
    assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
    System.out.println("ContainersIT: -Dtollgate.seed=" + SEED);
    try (ClusterContainers cluster = new ClusterContainers("ContainersIT");
        CellWorkload workload = new CellWorkload(cluster::connect, SEED)) {
      for (int round = 0; round < ROUNDS; round++) {
        for (Fault fault : Fault.values()) {
          workload.awaitAnswers(ANSWERS_BETWEEN_FAULTS);
          NodeContainer leader = cluster.leader();
          fault.begin(leader, cluster);
          workload.awaitAnswers(ANSWERS_BETWEEN_FAULTS);
          assertNotEquals(leader.id(), cluster.leader().id(), () -> fault + " leader leads on");
          fault.end(leader, cluster);
        }
      }
      workload.awaitAnswers(ANSWERS_BETWEEN_FAULTS);
      workload.stopAndCheck();
      cluster.awaitEqualReplicas();
    }
  }
}
