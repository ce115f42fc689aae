package dev.tollgate.log.peer;

/** What an operator should do when nodes do not talk with each other, as the log says it. */
final class RefusalAdvice {
  /** For any other case. */
  static final String CHECK = "Check the addresses and the data directories of both";

  private RefusalAdvice() {}

  /**
   * What to do when this node refuses another one.
   *
   * @param knowsCluster whether this node knows its cluster; if not, it may be about to end
   */
  static String onRefusing(String nodeId, PeerGuard.Reason reason, boolean knowsCluster) {
    return switch (reason) {
      case SENDER_REMOVED ->
          "Stop node " + nodeId + " if it still runs, and revoke its certificate if it has one";
      case SENDER_UNKNOWN ->
          "Start node "
              + nodeId
              + " with the directory that it had. If that is lost, remove it with CALL remove_node, and"
              + " join a node under a name that was never used";
      case RECEIVER_UNKNOWN ->
          knowsCluster
              ? "This node goes on, because no caller ends a node that knows its cluster. If node "
                  + nodeId
                  + " is no member, keep it from the Raft port, and revoke its certificate if it has"
                  + " one. If it is, compare INCARNATION in TOLLGATE.NODES with the files 'identity'"
                  + " of both"
              : CHECK;
      case OTHER_NODE -> "Check the addresses of both";
      case OTHER_CLUSTER, SENDER_UNPROVEN, UNNAMED_CLUSTER, NOT_JOINING, EARLIER_VERSION -> CHECK;
    };
  }

  /**
   * What to do when another node refuses this one, which goes on.
   *
   * @param needed how many members have to say the same before this node ends
   */
  static String onRefused(String nodeId, PeerGuard.Reason reason, int needed) {
    return switch (reason) {
      case SENDER_REMOVED ->
          goesOn(needed)
              + ". If you have removed this node, stop it. If not, find out what runs at the address"
              + " of node "
              + nodeId
              + ", and keep the data of this node";
      case SENDER_UNKNOWN ->
          goesOn(needed)
              + ". If this node was started with another directory than before, stop it, and start it"
              + " with the one that it had. If not, find out what runs at the address of node "
              + nodeId
              + ", and keep the data of this node";
      case OTHER_CLUSTER -> goesOn(needed) + ". " + CHECK;
      case OTHER_NODE -> "Check the addresses of both";
      case RECEIVER_UNKNOWN, SENDER_UNPROVEN, UNNAMED_CLUSTER, NOT_JOINING, EARLIER_VERSION ->
          CHECK;
    };
  }

  private static String goesOn(int needed) {
    return "This node goes on, and ends when "
        + needed
        + " of its members, without itself, say so within a minute";
  }
}
