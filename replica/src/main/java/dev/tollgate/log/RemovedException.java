package dev.tollgate.log;

import java.io.IOException;

/** This node no longer belongs to its cluster: an intended end, and no failure. */
public final class RemovedException extends IOException {
  private static final long serialVersionUID = 1L;

  public RemovedException(String nodeId) {
    super(
        "node "
            + nodeId
            + " was removed from the cluster and ends. Its data directory is of no use any more and may"
            + " be deleted; to add a node in its place, start one with an empty directory, a name that"
            + " was never used, and --join");
  }
}
