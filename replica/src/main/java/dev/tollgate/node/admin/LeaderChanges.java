package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.Notice;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.TermLeader;
import dev.tollgate.node.replica.Replica;
import org.jspecify.annotations.Nullable;

/**
 * Counts the leaders that this node has followed, or has been. The first one after a start is no
 * change. Thread-safe.
 */
public final class LeaderChanges implements Replica.Listener {
  private final ReplicatedLog log;
  private @Nullable TermLeader last;
  private long changes;

  public LeaderChanges(ReplicatedLog log) {
    this.log = requireNonNull(log, "log");
  }

  @Override
  public void leaderMayHaveChanged() {
    TermLeader now = log.servingLeader();
    synchronized (this) {
      if (now != null && !now.equals(last)) {
        changes += last == null ? 0 : 1;
        last = now;
      }
    }
  }

  /** How often another leader, or the same one in another term, has taken over. */
  synchronized long count() {
    return changes;
  }

  @Override
  public void startedLeading(ClusterState state) {
    leaderMayHaveChanged();
  }

  @Override
  public void stoppedLeading() {}

  @Override
  public void noticed(Notice notice) {}

  @Override
  public void failed(Throwable cause) {}
}
