package dev.tollgate.log;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCopy;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Who applies what the log has committed. All calls come from one thread at a time, in log order.
 */
public interface LogConsumer {
  /**
   * Applies an entry and tells the listeners of its proposals.
   *
   * @throws RuntimeException if the state is not to be trusted any more: the replica stops
   */
  void apply(long logIndex, Entry entry);

  /**
   * Begins a copy of the state as it is after the last entry.
   *
   * @param insistent if nothing may end the copy before it is written
   * @return null if now is not the moment: try again after the next entry
   */
  @Nullable StateCopy beginCopy(boolean insistent);

  /**
   * A snapshot has waited for long for a moment without transactions, and such a moment should be
   * made; or needs none any more.
   */
  void snapshotNeedsGap(boolean needed);

  /**
   * Replaces the state by that of a snapshot, whose bytes are known to be whole.
   *
   * @throws IOException if it cannot be read; the state is not to be trusted then
   */
  void restore(SnapshotReader snapshot) throws IOException;

  /** By what the cluster knows itself and its nodes; from any thread, and never waits. */
  default ClusterIdentity identity() {
    return ClusterIdentity.NONE;
  }

  /**
   * This node leads from now on, and has applied all that earlier leaders committed. In turn with
   * {@link #stoppedLeading}, one after the other.
   */
  void startedLeading(long term);

  /** This node does not lead any more. May come from another thread than what is applied. */
  void stoppedLeading();

  /** The log cannot go on, for this reason; nothing more will be applied. */
  void failed(Throwable cause);
}
