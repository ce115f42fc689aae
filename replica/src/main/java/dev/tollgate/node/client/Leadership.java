package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.wire.Reply;
import java.util.function.Consumer;

/**
 * Proves to requests that this node leads, or shows their clients the way to the leader.
 * Thread-safe; nothing here waits.
 */
final class Leadership {
  /** Is told whether this node leads. */
  interface Proof {
    void proven(boolean leads);
  }

  private final Replica replica;
  private final ReplicatedLog log;
  private final CommandPipeline pipeline;
  private final ClusterInfo cluster;

  Leadership(Replica replica, ReplicatedLog log, CommandPipeline pipeline, ClusterInfo cluster) {
    this.replica = requireNonNull(replica, "replica");
    this.log = requireNonNull(log, "log");
    this.pipeline = requireNonNull(pipeline, "pipeline");
    this.cluster = requireNonNull(cluster, "cluster");
  }

  /** True while the state of this node must be shown to nobody, not even as an older one. */
  boolean isApart() {
    return replica.isApart();
  }

  /** True while this node leads, as far as it knows: this is no proof. */
  boolean isAssumed() {
    return replica.isLeading();
  }

  /** True while this node does not lead, but is likely to lead within moments. */
  boolean isComing() {
    return !replica.isLeading() && log.isTakingOver();
  }

  /** Returns the reply to a request that only the leader can serve. */
  Reply.NotLeader notLeader() {
    return new Reply.NotLeader(cluster.view());
  }

  /**
   * Continues once this node has proven that it leads and has applied all that was acknowledged
   * before, or has said that it does not lead.
   *
   * @param then receives true if this node leads; called by any thread, must not wait
   */
  void awaitState(Proof then) {
    prove(pipeline::barrier, then);
  }

  /**
   * Like {@link #awaitState}, but does not wait until all that was acknowledged before is applied:
   * for renewals, which ask nothing but the time keeper.
   */
  void prove(Proof then) {
    prove(pipeline::leadership, then);
  }

  /** Continues once an entry proposed from now on is applied here, even if this node is alone. */
  void awaitEntry(Proof then) {
    pipeline.entry(barrier(then));
  }

  private void prove(Consumer<CommandPipeline.Barrier> proof, Proof then) {
    if (!replica.isLeading()) {
      then.proven(false);
    } else if (log.isAlone()) {
      then.proven(true);
    } else {
      proof.accept(barrier(then));
    }
  }

  /** The callback must not wait: one thread tells all callers that wait for the same proof. */
  private CommandPipeline.Barrier barrier(Proof then) {
    return new CommandPipeline.Barrier() {
      @Override
      public void passed() {
        replica.state().promptly(() -> then.proven(true));
      }

      @Override
      public void failed() {
        replica.state().promptly(() -> then.proven(false));
      }
    };
  }
}
