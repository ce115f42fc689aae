package dev.tollgate.log;

import dev.tollgate.seal.DirectoryKeys;
import dev.tollgate.seal.StoredFile;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The snapshots of this node. Thread-safe. */
public interface SnapshotStore {
  /** Lists the kept snapshots, newest first; none before the log starts. */
  List<SnapshotFile> list() throws IOException;

  /**
   * Takes a snapshot of what this node has applied, or returns the newest snapshot if that covers
   * all of it.
   *
   * @return completes exceptionally with a {@link SnapshotUnavailableException} if that was not
   *     possible; never waits forever
   */
  CompletableFuture<SnapshotFile> take();

  /**
   * The same, once the entry that is being applied is applied as a whole. Called by the apply
   * thread, so that no later entry can come before the snapshot.
   */
  CompletableFuture<SnapshotFile> takeAfterEntry();

  /**
   * Returns the members of the group as the log keeps them, up to an entry. A node that takes over
   * a snapshot needs those of the last entry that the snapshot covers.
   *
   * @param logIndex of an entry that is applied here
   * @throws IOException if the log is not open
   */
  byte[] configuration(long logIndex) throws IOException;

  /**
   * Opens a snapshot as it is without the encryption of this node.
   *
   * @throws IOException if it is gone, or damaged
   */
  default StoredFile open(SnapshotFile snapshot) throws IOException {
    return DirectoryKeys.off().openStored(snapshot.path(), "");
  }

  /** Returns the store of a node that keeps nothing. */
  static SnapshotStore none(String nodeId) {
    return new SnapshotStore() {
      @Override
      public List<SnapshotFile> list() {
        return List.of();
      }

      @Override
      public CompletableFuture<SnapshotFile> take() {
        return CompletableFuture.failedFuture(
            new SnapshotUnavailableException(
                SnapshotUnavailableException.Reason.NOT_HERE,
                "node " + nodeId + " keeps nothing, so it has no snapshots"));
      }

      @Override
      public CompletableFuture<SnapshotFile> takeAfterEntry() {
        return take();
      }

      @Override
      public byte[] configuration(long logIndex) {
        return new byte[0];
      }
    };
  }
}
