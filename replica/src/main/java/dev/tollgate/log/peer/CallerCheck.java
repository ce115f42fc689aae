package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.peer.PeerGuard.Reason;
import dev.tollgate.log.peer.PeerGuard.Refusal;
import org.jspecify.annotations.Nullable;

/**
 * Which callers a node serves. Once it knows the key of its cluster, those that prove that they
 * know the key too; and members that the replicated state does not know by their directories yet,
 * because only they may lack the key. A node that was down does not know who has become a member
 * meanwhile, so membership alone decides nothing.
 */
final class CallerCheck {
  private final NodeIdentity self;
  private final PeerGuard.Members members;

  CallerCheck(NodeIdentity self, PeerGuard.Members members) {
    this.self = requireNonNull(self, "self");
    this.members = requireNonNull(members, "members");
  }

  /** Returns why a caller is refused, or null if it is served. */
  @Nullable Refusal refusal(PeerGuard.Caller caller) {
    PeerCredentials sender = caller.credentials();
    ClusterIdentity known = self.known();
    UniqueId own = known.clusterId();
    if (own != null && sender.clusterId() != null && !own.equals(sender.clusterId())) {
      return new Refusal(
          Reason.OTHER_CLUSTER,
          "node "
              + self.nodeId()
              + " is of cluster "
              + own
              + ", node "
              + sender.from()
              + " of cluster "
              + sender.clusterId(),
          "node " + self.nodeId() + " is of another cluster than node " + sender.from());
    }
    // a removed node is refused whatever it says, and before anything that it says counts
    if (known.removed().contains(sender.from()) && !members.contains(sender.from())) {
      return new Refusal(
          Reason.SENDER_REMOVED.saidIn(own),
          "node " + sender.from() + " was removed from the cluster");
    }
    if (!sender.to().equals(self.nodeId())) {
      return new Refusal(
          Reason.OTHER_NODE,
          "node " + sender.from() + " takes node " + self.nodeId() + " for node " + sender.to());
    }
    UniqueId recorded = known.incarnations().get(sender.from());
    if (recorded != null && !recorded.equals(sender.incarnation())) {
      return new Refusal(
          Reason.SENDER_UNKNOWN.saidIn(own),
          "node "
              + self.nodeId()
              + " knows node "
              + sender.from()
              + " as incarnation "
              + recorded
              + ", but it is "
              + sender.incarnation(),
          "node " + self.nodeId() + " knows node " + sender.from() + " as another incarnation");
    }
    if (sender.expected() != null && !sender.expected().equals(self.incarnation())) {
      return new Refusal(
          isBelieved(caller, known)
              ? Reason.RECEIVER_UNKNOWN.saidIn(sender.clusterId())
              : Reason.UNNAMED_CLUSTER,
          "node "
              + sender.from()
              + " knows node "
              + self.nodeId()
              + " as incarnation "
              + sender.expected()
              + ", but it is "
              + self.incarnation(),
          "node "
              + self.nodeId()
              + " is not the incarnation that node "
              + sender.from()
              + " takes it for");
    }
    boolean served =
        known.key() == null
            || caller.proves(known)
            || (recorded == null && members.contains(sender.from()));
    if (served) {
      return null;
    }
    return new Refusal(
        Reason.SENDER_UNPROVEN,
        "node "
            + sender.from()
            + " does not prove that it is of the cluster of node "
            + self.nodeId());
  }

  /**
   * True if the caller knows the key. A node that does not know the key either believes any node if
   * it knows nobody, and else those that it knows by their incarnation.
   */
  private boolean isBelieved(PeerGuard.Caller caller, ClusterIdentity known) {
    PeerCredentials sender = caller.credentials();
    if (sender.from().equals(self.nodeId()) && !known.incarnations().isEmpty()) {
      return false;
    }
    if (known.key() != null) {
      return caller.proves(known);
    }
    return known.incarnations().isEmpty()
        || sender.incarnation().equals(known.incarnations().get(sender.from()));
  }
}
