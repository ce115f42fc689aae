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
 * The other nodes that a node ought to hear and does not. A follower ought to hear its leader
 * alone, a leader all its followers, and a node without a leader all nodes.
 *
 * @param leaderless true if this node knows of no leader
 * @param emptyLog true if this node has nothing of the log yet
 */
record Silence(boolean leaderless, boolean emptyLog, Collection<RaftPeer> peers) {
  private static final Silence NONE = new Silence(false, false, List.of());

  Silence {
    peers = List.copyOf(peers);
  }

  /**
   * @param millis how long a follower must be silent until its leader reports the silence
   */
  static Silence around(RaftServer server, RaftGroupId group, long millis) {
    RaftServer.Division division;
    try {
      division = server.getDivision(group);
    } catch (IOException e) {
      // the node has left its group, or is closing
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
        // this can be read even if the log closes meanwhile
        division.getRaftLog().getFlushIndex() == RaftLog.INVALID_LOG_INDEX,
        members.stream().filter(peer -> !peer.getId().equals(self)).toList());
  }
}
