package dev.tollgate.log.peer;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftConfiguration;

/**
 * The votes that this node was given, so that it leads in no term without a majority in that very
 * term. Ratis 3.3.0 (LeaderElection, RaftServerImpl.changeToLeader) counts votes for a term,
 * releases its monitor, and then makes any candidate a leader, of whatever term it is in by then.
 * Thread-safe.
 */
final class GrantedVotes {
  private static final long NONE = -1;

  private final Set<RaftPeerId> voters = new HashSet<>();
  private long term = NONE;
  private long elected = NONE;

  /** Notes the answer of a node that was asked for its vote. */
  synchronized void note(RequestVoteRequestProto request, RequestVoteReplyProto reply) {
    long asked = request.getCandidateTerm();
    if (request.getPreVote() || asked < term || asked != reply.getTerm()) {
      return;
    }
    if (asked > term) {
      term = asked;
      voters.clear();
    }
    if (reply.getServerReply().getSuccess()) {
      voters.add(RaftPeerId.valueOf(request.getServerRequest().getReplyId()));
    }
  }

  /** True if a node may lead in a term; once it does, its members may change. */
  synchronized boolean isElected(long inTerm, RaftConfiguration members, RaftPeerId self) {
    if (elected == inTerm) {
      return true;
    }
    Set<RaftPeerId> granted = new HashSet<>(inTerm == term ? voters : Set.of());
    granted.add(self);
    boolean all =
        isMajority(granted, members.getPreviousPeers())
            && (isMajority(granted, members.getCurrentPeers()) || leavesSolitude(members, self));
    if (all) {
      elected = inTerm;
    }
    return all;
  }

  private static boolean isMajority(Set<RaftPeerId> granted, Collection<RaftPeer> members) {
    long count = members.stream().filter(peer -> granted.contains(peer.getId())).count();
    return members.isEmpty() || count > members.size() / 2;
  }

  /** True if a second node is being added, so that no other one is elected without this one. */
  private static boolean leavesSolitude(RaftConfiguration members, RaftPeerId self) {
    return members.getPreviousPeers().size() == 1
        && members.getCurrentPeers().size() == 2
        && members.getCurrentPeers().stream().anyMatch(peer -> peer.getId().equals(self));
  }
}
