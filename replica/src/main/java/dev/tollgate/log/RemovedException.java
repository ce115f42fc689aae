package dev.tollgate.log;

/** This node belongs to its group no more. */
public final class RemovedException extends Exception {
  private static final long serialVersionUID = 1L;

  RemovedException(String nodeId) {
    super(
        "node "
            + nodeId
            + " was removed from the cluster and stops. Its directory is of no use any more; to add a"
            + " node in its place, start one with an empty directory, a new name, and --join");
  }
}
