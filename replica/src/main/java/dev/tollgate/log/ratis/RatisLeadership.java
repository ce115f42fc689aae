package dev.tollgate.log.ratis;

import static java.util.stream.Collectors.toCollection;

import dev.tollgate.log.peer.PeerTransport;
import java.io.IOException;
import java.util.Collection;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;

/** The leadership of a node in a Ratis group, and how this node asks the others for their terms. */
final class RatisLeadership implements LeadershipRounds.Group {
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
    var unused =
        server.transferLeadershipAsync(
            new TransferLeadershipRequest(
                CLIENT, server.getId(), group, CALLS.incrementAndGet(), null, STEP_DOWN_MILLIS));
  }

  @Override
  public CompletableFuture<Long> termOf(String nodeId) {
    return transport == null
        ? CompletableFuture.failedFuture(new IOException("this node has no way to " + nodeId))
        : transport.termOf(nodeId);
  }
}
