package dev.tollgate.log.snapshot;

import java.io.IOException;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.jspecify.annotations.Nullable;

/**
 * The snapshots as Ratis sees them. Ratis asks for the newest snapshot several times for each
 * append, sent or received. While there is none, the superclass would search the directory each
 * time. Thread-safe.
 */
final class RatisSnapshotStorage extends SimpleStateMachineStorage {
  private volatile @Nullable SingleFileSnapshotInfo newest;

  @Override
  public void init(RaftStorage storage) throws IOException {
    super.init(storage);
    loadLatestSnapshot();
  }

  @Override
  public @Nullable SingleFileSnapshotInfo getLatestSnapshot() {
    return newest;
  }

  @Override
  public synchronized @Nullable SingleFileSnapshotInfo updateLatestSnapshot(
      SingleFileSnapshotInfo info) {
    SingleFileSnapshotInfo updated = super.updateLatestSnapshot(info);
    newest = updated;
    return updated;
  }

  @Override
  public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) {
    // old snapshots are dropped when a new one is complete
  }
}
