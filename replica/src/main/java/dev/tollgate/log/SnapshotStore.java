package dev.tollgate.log;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The snapshots of this node. Thread-safe. */
public interface SnapshotStore {
  /** Those that are kept, the newest first. */
  List<SnapshotFile> list() throws IOException;

  /**
   * Takes one of what this node has applied, or gives the newest if that covers all of it.
   *
   * @return completes exceptionally with a {@link SnapshotUnavailableException} if that could not
   *     be done; never waits for ever
   */
  CompletableFuture<SnapshotFile> take();

  /** The members of the group as the log keeps them; another node can be seeded with them. */
  byte[] configuration() throws IOException;

  /** That of a node that keeps nothing. */
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
      public byte[] configuration() {
        return new byte[0];
      }
    };
  }
}
