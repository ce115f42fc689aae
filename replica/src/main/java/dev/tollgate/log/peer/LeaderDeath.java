package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.NetUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has this node stand for election as soon as the process of its leader has ended, instead of after
 * the silence of an election timeout. The sign is that the leader's connection ends, and that
 * nobody listens at its address any more. If only the network fails, or the machine of the leader,
 * the election timeout decides as ever.
 *
 * <p>Whoever stands asks for a pre-vote first, so a node that is wrong about its leader disturbs
 * nobody: the others still hear that leader.
 */
final class LeaderDeath {
  private static final Logger LOG = LoggerFactory.getLogger(LeaderDeath.class);

  /** The sockets of a process that ends are closed one after the other. */
  private static final long CLOSING_MILLIS = 200;

  private static final int ANSWER_MILLIS = 100;
  private static final long AGAIN_MILLIS = 5;

  /** How long it takes until the other followers have noticed too, and will vote. */
  private static final long NOTICING_MILLIS = 20;

  /** How often a follower stands. After that the election timeout decides. */
  private static final int ATTEMPTS = 3;

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
      RaftPeerId leader = info.getLeaderId();
      if (!info.isFollower()
          || leader == null
          || !leader.toString().equals(nodeId)
          || !isGone(division, nodeId)) {
        return;
      }
      settings.service().doubtLeader(nodeId, term);
      List<String> followers = followers(division, nodeId);
      int rank = Math.max(0, followers.indexOf(settings.nodeId()));
      TimeUnit.MILLISECONDS.sleep(NOTICING_MILLIS + rank * STAGGER_MILLIS);
      for (int i = 0; i < ATTEMPTS && isLeaderless(info, nodeId, term); i++) {
        LOG.info("{}: the process of the leader, {}, has ended", settings.nodeId(), nodeId);
        settings.service().standForElection(nodeId, term);
        TimeUnit.MILLISECONDS.sleep(followers.size() * STAGGER_MILLIS);
      }
    } catch (IOException | IllegalStateException | IllegalArgumentException e) {
      // this node closes too
      LOG.debug("{}: no election", settings.nodeId(), e);
    }
  }

  private boolean isLeaderless(DivisionInfo info, String dead, long term) {
    RaftPeerId leader = info.getLeaderId();
    return !closed
        && info.isFollower()
        && info.getCurrentTerm() == term
        && (leader == null || leader.toString().equals(dead));
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

  /** The followers, in the order in which they stand. */
  private static List<String> followers(RaftServer.Division division, String leader) {
    return division.getRaftConf().getCurrentPeers().stream()
        .map(peer -> peer.getId().toString())
        .filter(id -> !id.equals(leader))
        .sorted()
        .toList();
  }

  void close() {
    closed = true;
  }
}
