package dev.tollgate.log.ratis;

import static java.util.Comparator.comparingLong;
import static java.util.stream.Collectors.toCollection;

import dev.tollgate.log.peer.PeerTransport;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.util.ProtoUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The leadership of a node in a Ratis group, and how this node asks the others for their terms. */
final class RatisLeadership implements LeadershipRounds.Group {
  private static final Logger LOG = LoggerFactory.getLogger(RatisLeadership.class);
  private static final ClientId CLIENT = ClientId.randomId();
  private static final AtomicLong CALLS = new AtomicLong();
  private static final long STEP_DOWN_MILLIS = 1_000;

  private final RaftServer server;
  private final RaftGroupId group;
  private final @Nullable PeerTransport transport;

  /**
   * @param transport null for a node that stays alone
   */
  RatisLeadership(RaftServer server, RaftGroupId group, @Nullable PeerTransport transport) {
    this.server = server;
    this.group = group;
    this.transport = transport;
  }

  @Override
  public LeadershipRounds.@Nullable Leadership leadership() {
    RaftServer.Division division;
    try {
      division = server.getDivision(group);
    } catch (IOException e) {
      // the node has left its group, or is closing
      return null;
    }
    DivisionInfo info = division.getInfo();
    // the term only rises, and leadership ends before the term rises
    long term = info.getCurrentTerm();
    RaftConfiguration members = division.getRaftConf();
    Collection<RaftPeer> voters = members.getCurrentPeers();
    boolean changing = !members.getPreviousPeers().isEmpty();
    boolean votes = voters.stream().anyMatch(peer -> peer.getId().equals(server.getId()));
    long committed = division.getRaftLog().getLastCommittedIndex();
    if (changing || !votes || !info.isLeaderReady() || info.getCurrentTerm() != term) {
      return null;
    }
    SortedSet<String> followers =
        voters.stream()
            .map(RaftPeer::getId)
            .filter(id -> !id.equals(server.getId()))
            .map(RaftPeerId::toString)
            .collect(toCollection(TreeSet::new));
    return new LeadershipRounds.Leadership(term, members.getLogEntryIndex(), followers, committed);
  }

  /** Has a server that leads step down, without naming another one; does not wait. */
  static void stepDown(RaftServer server, RaftGroupId group) throws IOException {
    var unused = requestStepDown(server, group);
  }

  /**
   * Has a server that leads step down, and then another member stand for election at once: the
   * first one that has all of this node's log. Unlike a transfer of leadership, that writes nothing
   * here.
   *
   * @param executor waits for the answers of the others, a second each at most
   * @return completes once another member stands, or none does, which the log of this node says
   */
  static CompletableFuture<Void> stepDownForAnother(
      RaftServer server, RaftServer.Division division, Executor executor) throws IOException {
    List<RaftPeerId> heard = heardLast(division);
    // not on the thread of Ratis, which has its monitor
    return requestStepDown(server, division.getGroup().getGroupId())
        .thenRunAsync(() -> offerLeadership(server, division, heard), executor)
        .exceptionally(
            failure -> {
              LOG.info("{}: names no successor", server.getId(), failure);
              return null;
            });
  }

  /** Returns the followers, those first that this leader has just heard: a dead one costs time. */
  private static List<RaftPeerId> heardLast(RaftServer.Division division) {
    return division.getInfo().getRoleInfoProto().getLeaderInfo().getFollowerInfoList().stream()
        .sorted(comparingLong(ServerRpcProto::getLastRpcElapsedTimeMs))
        .map(follower -> RaftPeerId.valueOf(follower.getId().getId()))
        .toList();
  }

  private static CompletableFuture<RaftClientReply> requestStepDown(
      RaftServer server, RaftGroupId group) throws IOException {
    return server.transferLeadershipAsync(
        new TransferLeadershipRequest(
            CLIENT, server.getId(), group, CALLS.incrementAndGet(), null, STEP_DOWN_MILLIS));
  }

  private static void offerLeadership(
      RaftServer server, RaftServer.Division division, List<RaftPeerId> followers) {
    TermIndex last = division.getRaftLog().getLastEntryTermIndex();
    for (RaftPeerId follower : followers) {
      RaftPeer peer = division.getRaftConf().getPeer(follower);
      if (last != null && peer != null && stands(server, division, peer, last)) {
        return;
      }
    }
  }

  private static boolean stands(
      RaftServer server, RaftServer.Division division, RaftPeer peer, TermIndex last) {
    RaftRpcRequestProto to =
        RaftRpcRequestProto.newBuilder()
            .setRequestorId(server.getId().toByteString())
            .setReplyId(peer.getId().toByteString())
            .setRaftGroupId(ProtoUtils.toRaftGroupIdProtoBuilder(division.getGroup().getGroupId()))
            .setCallId(CALLS.incrementAndGet())
            .build();
    try {
      return server
          .getServerRpc()
          .startLeaderElection(
              StartLeaderElectionRequestProto.newBuilder()
                  .setServerRequest(to)
                  .setLeaderLastEntry(last.toProto())
                  .build())
          .getServerReply()
          .getSuccess();
    } catch (IOException e) {
      LOG.info(
          "{}: {} does not stand for election: {}", server.getId(), peer.getId(), e.getMessage());
      return false;
    }
  }

  @Override
  public CompletableFuture<Long> termOf(String nodeId) {
    return transport == null
        ? CompletableFuture.failedFuture(new IOException("this node has no way to " + nodeId))
        : transport.termOf(nodeId);
  }
}
