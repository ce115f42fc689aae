package dev.tollgate.log.peer;

/** What an operator should do when nodes do not talk with each other, as the log says it. */
final class RefusalAdvice {
  private static final String CHECK = "Check the addresses and the data directories of both";

  private RefusalAdvice() {}

  /** What to do when this node refuses another one. */
  static String onRefusing(String nodeId, PeerGuard.Reason reason) {
    return switch (reason) {
      case SENDER_REMOVED ->
          "Stop node " + nodeId + " if it still runs, and revoke its certificate if it has one";
      case SENDER_UNKNOWN ->
          "Start node "
              + nodeId
              + " with the directory that it had. If that is lost, remove it with CALL remove_node, and"
              + " join a node under a name that was never used";
      case RECEIVER_UNKNOWN ->
          "This node goes on, because no caller ends a node that knows its cluster. If node "
              + nodeId
              + " is no member, keep it from the Raft port, and revoke its certificate if it has one."
              + " If it is, compare INCARNATION in TOLLGATE.NODES with the files 'identity' of both";
      case OTHER_NODE -> "Check the addresses of both";
      case OTHER_CLUSTER, SENDER_UNPROVEN, UNNAMED_CLUSTER, NOT_JOINING, EARLIER_VERSION -> CHECK;
    };
  }

  /**
   * What to do when another node refuses this one.
   *
   * @param needed how many members have to say the same before this node ends
   */
  static String onRefused(String nodeId, PeerGuard.Reason reason, int needed) {
    String others =
        ". This node goes on, and ends when "
            + needed
            + " members other than itself say so within a minute. ";
    return switch (reason) {
      case SENDER_REMOVED ->
          "Node "
              + nodeId
              + " says that this node was removed from the cluster"
              + others
              + "If you have removed it, stop it. If not, find out what runs at the address of node "
              + nodeId
              + ", and keep the data of this node";
      case SENDER_UNKNOWN ->
          "Node "
              + nodeId
              + " says that the cluster knows this node by another data directory"
              + others
              + "If this node was started with another directory than before, stop it, and start it"
              + " with the one that it had. If not, find out what runs at the address of node "
              + nodeId
              + ", and keep the data of this node";
      case OTHER_CLUSTER -> CHECK + others.substring(0, others.length() - 1);
      case OTHER_NODE -> "Check the addresses of both";
      case RECEIVER_UNKNOWN, SENDER_UNPROVEN, UNNAMED_CLUSTER, NOT_JOINING, EARLIER_VERSION ->
          CHECK;
    };
  }
}
