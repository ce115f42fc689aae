package dev.tollgate.log.ratis;

import static java.util.stream.Collectors.toSet;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;

/**
 * Which other nodes a node ought to hear, and does not: followers their leader alone, leaders all
 * of their followers, and a node without a leader everybody.
 *
 * @param leaderless this node knows of no leader
 * @param emptyLog this node has nothing of the log yet
 */
record Silence(boolean leaderless, boolean emptyLog, Collection<RaftPeer> peers) {
  private static final Silence NONE = new Silence(false, false, List.of());

  Silence {
    peers = List.copyOf(peers);
  }

  /**
   * @param millis for how long a follower says nothing that its leader does not hear
   */
  static Silence around(RaftServer server, RaftGroupId group, long millis) {
    RaftServer.Division division;
    try {
      division = server.getDivision(group);
    } catch (IOException e) {
      // the node has left its group, or closes
      return NONE;
    }
    DivisionInfo info = division.getInfo();
    RaftPeerId self = division.getId();
    Collection<RaftPeer> members = division.getRaftConf().getAllPeers();
    if (info.isLeader()) {
      Set<String> silent =
          info.getRoleInfoProto().getLeaderInfo().getFollowerInfoList().stream()
              .filter(follower -> follower.getLastRpcElapsedTimeMs() > millis)
              .map(ServerRpcProto::getId)
              .map(peer -> peer.getId().toStringUtf8())
              .collect(toSet());
      return new Silence(
          false,
          false,
          members.stream().filter(peer -> silent.contains(peer.getId().toString())).toList());
    }
    if (info.getLeaderId() != null || division.getRaftConf().getPeer(self) == null) {
      return NONE;
    }
    return new Silence(
        true,
        // of a log that closes meanwhile, this can still be asked
        division.getRaftLog().getFlushIndex() == RaftLog.INVALID_LOG_INDEX,
        members.stream().filter(peer -> !peer.getId().equals(self)).toList());
  }
}
