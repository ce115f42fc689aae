package dev.tollgate.log;

import dev.tollgate.core.command.UniqueId;
import java.io.IOException;
import java.nio.file.Path;

/** This node's data directory does not belong where the node was started. */
public final class StrangerException extends IOException {
  private static final long serialVersionUID = 1L;

  private static final String REPLACE =
      "A node without its data may not come back under its name, because it has forgotten its votes"
          + " and its entries: remove it with CALL remove_node, and start it with an empty directory,"
          + " a name that was never used, and --join";

  StrangerException(String message) {
    super(message);
  }

  public static StrangerException ofAnotherNode(String nodeId, Path data, String owner) {
    return new StrangerException(
        data
            + " is the data directory of node "
            + owner
            + ", not of node "
            + nodeId
            + ": start it with --id "
            + owner
            + ", or give node "
            + nodeId
            + " a directory of its own");
  }

  public static StrangerException withoutLog(String nodeId, Path data) {
    return new StrangerException(
        "node " + nodeId + " has lost its log: there is none in " + data + ". " + REPLACE);
  }

  /**
   * @param how what is wrong with the file
   */
  public static StrangerException withoutIdentity(String nodeId, String how) {
    return new StrangerException(
        "node " + nodeId + " has a log and has lost its identity: " + how + ". " + REPLACE);
  }

  public static StrangerException withoutEntries(String nodeId, Path log, long last, long had) {
    return new StrangerException(
        "node "
            + nodeId
            + " has lost entries: its log in "
            + log
            + (last < 0 ? " is empty" : " ends with entry " + last)
            + ", and the node has had entry "
            + had
            + ". "
            + REPLACE);
  }

  /** The leader knows an entry that this node has acknowledged, and that is not in its log. */
  public static StrangerException withoutAcknowledged(String nodeId, Path data, long logIndex) {
    return new StrangerException(
        "node "
            + nodeId
            + " stops, because it has lost entries: it has acknowledged entry "
            + logIndex
            + " to the leader, and its log in "
            + data
            + " does not have it. "
            + REPLACE);
  }

  public static StrangerException ofAnotherCluster(
      String nodeId, Path data, UniqueId own, UniqueId other) {
    return new StrangerException(
        data
            + " is the data directory of node "
            + nodeId
            + " of cluster "
            + own
            + ", but its log is of cluster "
            + other
            + ": start the node with its own directory");
  }

  /** Most members of the group refuse to talk to this node. */
  public static StrangerException amongOthers(String nodeId, Path data, String refusal) {
    return new StrangerException(
        "node "
            + nodeId
            + " stops, because the other nodes do not accept its data directory "
            + data
            + ": "
            + refusal
            + ". Start it with the directory of its own cluster, or with the addresses of its own"
            + " cluster");
  }

  /** The cluster knows another directory under this name. */
  public static StrangerException anotherIncarnation(String nodeId, Path data, String refusal) {
    return new StrangerException(
        "node "
            + nodeId
            + " stops, because "
            + data
            + " is not the data directory that its cluster knows under this name ("
            + refusal
            + "). Start it with the directory that it had. If that is lost: "
            + REPLACE);
  }
}
