package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.peer.NodeIdentity;
import java.io.IOException;

/**
 * What the state says of the cluster and its nodes, in the directory of this node. Belongs to the
 * apply thread.
 */
final class KeptIdentity {
  private final NodeIdentity identity;
  private final LogConsumer consumer;
  private final NodeEnd end;
  private ClusterIdentity kept = ClusterIdentity.NONE;

  KeptIdentity(NodeIdentity identity, LogConsumer consumer, NodeEnd end) {
    this.identity = requireNonNull(identity, "identity");
    this.consumer = requireNonNull(consumer, "consumer");
    this.end = requireNonNull(end, "end");
  }

  /**
   * Writes what has changed since the last time.
   *
   * @param applied the last entry that was applied
   */
  void keep(long applied) throws IOException {
    ClusterIdentity state = consumer.identity();
    if (!state.equals(kept)) {
      identity.learn(state, applied);
      kept = state;
    }
  }

  /** Writes what has changed, and fails the node if that cannot be. */
  void keepOrStop(long applied) {
    try {
      keep(applied);
    } catch (StrangerException e) {
      end.fail(e);
    } catch (IOException e) {
      end.cannotWrite("its identity", e);
    }
  }
}
