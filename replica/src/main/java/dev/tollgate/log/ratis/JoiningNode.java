package dev.tollgate.log.ratis;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.log.MembershipException;
import dev.tollgate.log.peer.PeerGuard;
import dev.tollgate.log.peer.PeerTransport;
import java.io.IOException;
import java.util.Collection;
import java.util.regex.Pattern;
import org.apache.ratis.protocol.RaftPeer;
import org.jspecify.annotations.Nullable;

/** A node that asks to become a member, and the conditions for that. */
record JoiningNode(RaftPeer peer) {
  /** How long it may take to say whether it can be added. */
  private static final int ANSWER_MILLIS = 3_000;

  private static final Pattern ADDRESS =
      Pattern.compile("([\\w.-]+|\\[[0-9a-fA-F:.]+]):[1-9]\\d{0,4}");

  static JoiningNode of(String nodeId, String raftAddress) throws MembershipException {
    if (!ADDRESS.matcher(raftAddress).matches()) {
      throw new MembershipException("'" + raftAddress + "' is no address: write host:port");
    }
    if (nodeId.isEmpty()) {
      throw new MembershipException("a node needs a name");
    }
    return new JoiningNode(RaftPeer.newBuilder().setId(nodeId).setAddress(raftAddress).build());
  }

  /** A node that was removed may have votes and entries, unlike an empty directory. */
  void requireNeverRemoved(ClusterIdentity cluster) throws MembershipException {
    if (cluster.removed().contains(peer.getId().toString())) {
      throw new MembershipException(
          "a node named "
              + peer.getId()
              + " was removed from this cluster: start the new node with an empty directory and a"
              + " name that was never used");
    }
  }

  /** Rejects a node whose name or address a member already has. */
  void requireNew(Collection<RaftPeer> members) throws MembershipException {
    for (RaftPeer member : members) {
      if (member.getId().equals(peer.getId())) {
        throw new MembershipException(
            "node "
                + peer.getId()
                + " is a member already, at "
                + member.getAddress()
                + ": remove it first if it moved");
      }
      if (member.getAddress().equals(peer.getAddress())) {
        throw new MembershipException(
            "address " + peer.getAddress() + " is that of node " + member.getId());
      }
    }
  }

  /**
   * Asks the node whether it can join. Ratis would find out only after {@link
   * RatisMembership#CATCH_UP_MILLIS}, and would accept a leaderless node that begins a cluster.
   */
  void requireJoining(PeerTransport leader) throws MembershipException {
    PeerGuard.Refusal refusal = ask(leader);
    if (refusal != null) {
      throw new MembershipException(
          "node "
              + peer.getId()
              + " at "
              + peer.getAddress()
              + " is not added, because "
              + refusal.message()
              + remedy(refusal.reason()));
    }
  }

  private static String remedy(PeerGuard.Reason reason) {
    return switch (reason) {
      case OTHER_NODE -> ": name the node that runs at this address";
      case EARLIER_VERSION -> ": stop it, install the version of the other nodes, and start it";
      default -> ": stop it, and start it with an empty directory and --join";
    };
  }

  private PeerGuard.@Nullable Refusal ask(PeerTransport leader) throws MembershipException {
    try {
      return leader.askToJoin(peer, ANSWER_MILLIS);
    } catch (IOException e) {
      throw new MembershipException(
          "node "
              + peer.getId()
              + " at "
              + peer.getAddress()
              + " did not answer the leader ("
              + e.getMessage()
              + "), so nothing has changed: is it running, started with --join, and is this its"
              + " address for other nodes?",
          e);
    }
  }
}
