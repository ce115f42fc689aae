package dev.tollgate.log;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCopy;
import java.io.IOException;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Applies what the log has committed. Calls of {@link #apply}, {@link #beginCopy}, {@link
 * #snapshotNeedsGap} and {@link #restore} come from one thread at a time, in log order. Other
 * threads may call the other methods meanwhile.
 */
public interface LogConsumer {
  /**
   * Applies an entry and notifies the listeners of its proposals.
   *
   * @throws StateDiffersException if the state is not the one that the leader had; the entry was
   *     not applied
   * @throws RuntimeException if the state can no longer be trusted: the replica stops
   */
  void apply(long logIndex, Entry entry);

  /**
   * Begins a copy of the state after the last entry.
   *
   * @param insistent if nothing may cancel the copy before it is written
   * @return null if no copy can begin now: try again after the next entry
   */
  @Nullable StateCopy beginCopy(boolean insistent);

  /**
   * Reports that a snapshot has long waited for a moment without transactions, or no longer needs
   * one. The consumer should bring about a needed moment.
   */
  void snapshotNeedsGap(boolean needed);

  /**
   * Replaces the state with that of a snapshot whose bytes are known to be intact.
   *
   * @throws IOException if the snapshot cannot be read; the state can then no longer be trusted
   */
  void restore(SnapshotReader snapshot) throws IOException;

  /**
   * Reports that the state is not the one of the leader, and that it will be replaced by a snapshot
   * of the leader: until {@link #restore} the consumer serves nobody.
   */
  default void awaitsState(StateDiffersException why) {}

  /**
   * Reads a snapshot as {@link #restore} would, and keeps nothing. Callable from any thread.
   *
   * @throws IOException if no replica could be restored from it
   */
  default void tryOut(SnapshotReader snapshot) throws IOException {
    while (snapshot.next() != null) {
      // only its checksum is checked
    }
  }

  /**
   * Reports that the state is not to be trusted, because a command failed, and that the node stands
   * at that command: until {@link #goesOn} the consumer serves nobody.
   */
  default void stands(CommandFailedException why) {}

  /** Leaves out these commands from now on. */
  default void leaveOut(SkipList skips) {}

  /** Replaces the state with the one before the first entry. */
  default void beginAnew() {}

  /** Reports that the node no longer stands at a command: its state is whole. */
  default void goesOn() {}

  /** Returns the identity of the cluster and its nodes; callable from any thread, never waits. */
  default ClusterIdentity identity() {
    return ClusterIdentity.NONE;
  }

  /** What the program of this node knows, which it tells the other nodes. */
  default NodeVersion version() {
    return NodeVersion.of(FeatureLevels.STANDARD);
  }

  /** The feature level of the cluster after the last entry; callable from any thread. */
  default int featureLevel() {
    return FeatureLevels.FIRST;
  }

  /**
   * Returns why a command must not be in the log yet, or null if it may be: a member of the cluster
   * may not know such commands. Callable from any thread, never waits.
   */
  default @Nullable String refusal(Command command) {
    return null;
  }

  /**
   * Reports that this node has refused a message of another node, or of a stranger. Callable from
   * any thread, never waits.
   *
   * @param from where the connection comes from
   * @param nodeId as the caller calls itself
   * @param reason a constant
   */
  default void refusedPeer(InetAddress from, String nodeId, String reason) {}

  /**
   * Reports that this node leads from now on, and has applied all that earlier leaders committed.
   * Alternates with {@link #stoppedLeading}; the two never overlap.
   */
  void startedLeading(long term);

  /** Reports that this node no longer leads. May come from another thread than the entries. */
  void stoppedLeading();

  /**
   * Reports that {@link ReplicatedLog#servingLeader} may have another answer, on any node. The
   * caller may hold locks of the log, so this must not wait.
   */
  default void leaderMayHaveChanged() {}

  /** Reports that the log cannot go on, for this reason; nothing more will be applied. */
  void failed(Throwable cause);
}
