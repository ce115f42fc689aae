package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.util.NetUtils;
import org.apache.ratis.util.ProtoUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has this node stand for election as soon as the process of its leader has ended, instead of after
 * the silence of an election timeout. The sign is that the leader's connection ends, and that
 * nobody listens at its address any more. If only the network fails, or the machine of the leader,
 * the election timeout decides as ever.
 *
 * <p>An election too many would cost a moment, and nothing else: terms and votes are those of Raft.
 */
final class LeaderDeath {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderDeath.class);

  /** The sockets of a process that ends are closed one after the other. */
  private static final long CLOSING_MILLIS = 200;

  private static final int ANSWER_MILLIS = 100;
  private static final long AGAIN_MILLIS = 5;

  /**
   * How much later each further follower stands, so that they do not split the votes: an election
   * takes less. The election timeout remains for what still goes wrong.
   */
  private static final long STAGGER_MILLIS = 60;

  private final PeerSettings settings;
  private final RaftServer server;
  private volatile boolean closed;

  LeaderDeath(PeerSettings settings, RaftServer server) {
    this.settings = requireNonNull(settings, "settings");
    this.server = requireNonNull(server, "server");
  }

  /** A connection of this node has ended. May wait for some hundred milliseconds. */
  void examine(String nodeId) throws InterruptedException {
    try {
      RaftServer.Division division = server.getDivision(settings.group());
      DivisionInfo info = division.getInfo();
      long term = info.getCurrentTerm();
      if (!isLedBy(info, nodeId, term) || !isGone(division, nodeId)) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(rank(division, nodeId) * STAGGER_MILLIS);
      TermIndex last = division.getRaftLog().getLastEntryTermIndex();
      if (closed || last == null || !isLedBy(info, nodeId, term)) {
        return;
      }
      LOG.info("{}: the process of the leader, {}, has ended", settings.nodeId(), nodeId);
      server.startLeaderElection(
          StartLeaderElectionRequestProto.newBuilder()
              .setServerRequest(
                  RaftRpcRequestProto.newBuilder()
                      .setRequestorId(RaftPeerId.valueOf(nodeId).toByteString())
                      .setReplyId(server.getId().toByteString())
                      .setRaftGroupId(ProtoUtils.toRaftGroupIdProtoBuilder(settings.group())))
              .setLeaderLastEntry(last.toProto())
              .build());
    } catch (IOException | IllegalStateException e) {
      // this node closes too
      LOG.debug("{}: no election", settings.nodeId(), e);
    }
  }

  private static boolean isLedBy(DivisionInfo info, String nodeId, long term) {
    RaftPeerId leader = info.getLeaderId();
    return info.isFollower()
        && leader != null
        && leader.toString().equals(nodeId)
        && info.getCurrentTerm() == term;
  }

  /** True once nobody listens at the address of a node; false if its process is there. */
  private static boolean isGone(RaftServer.Division division, String nodeId)
      throws InterruptedException {
    RaftPeer peer = division.getRaftConf().getPeer(RaftPeerId.valueOf(nodeId));
    if (peer == null) {
      return false;
    }
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSING_MILLIS);
    while (System.nanoTime() < end) {
      Boolean gone = isGone(peer);
      if (gone != null) {
        return gone;
      }
      TimeUnit.MILLISECONDS.sleep(AGAIN_MILLIS);
    }
    return false;
  }

  /** Null if that is not certain yet. */
  private static @Nullable Boolean isGone(RaftPeer peer) {
    try (Socket probe = new Socket()) {
      probe.connect(NetUtils.createSocketAddr(peer.getAddress()), ANSWER_MILLIS);
      probe.setSoTimeout(ANSWER_MILLIS);
      // a process that is there says hello
      if (probe.getInputStream().read() < 0) {
        throw new EOFException();
      }
      return false;
    } catch (ConnectException e) {
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return null;
    }
  }

  /** How many of the other followers stand before this node. */
  private int rank(RaftServer.Division division, String leader) {
    List<String> followers =
        division.getRaftConf().getCurrentPeers().stream()
            .map(peer -> peer.getId().toString())
            .filter(id -> !id.equals(leader))
            .sorted()
            .toList();
    return Math.max(0, followers.indexOf(settings.nodeId()));
  }

  void close() {
    closed = true;
  }
}
