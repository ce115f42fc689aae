package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.peer.PeerGuard;
import java.io.IOException;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;

/** The Ratis server of this node, once Ratis has made it. Thread-safe. */
final class OwnServer {
  private final CompletableFuture<RaftServer> server;

  /**
   * @param server is complete from the start of the server on
   */
  OwnServer(CompletableFuture<RaftServer> server) {
    this.server = requireNonNull(server, "server");
  }

  /** Returns the server; waits for its start. */
  RaftServer get() {
    return server.join();
  }

  /**
   * @throws IOException if the node has left its group
   */
  RaftServer.Division division() throws IOException {
    return get().getDivision(RatisLog.GROUP);
  }

  /** True if this node is a member, as far as it knows. */
  boolean isMember() {
    try {
      return hasPeer(division().getRaftConf().getCurrentPeers(), get().getId());
    } catch (IOException e) {
      return false;
    }
  }

  /** True if there is no other member. */
  boolean isAlone() throws IOException {
    return division().getRaftConf().getCurrentPeers().size() == 1;
  }

  /** False once Ratis closes the server with all of its groups. */
  boolean isServing() {
    return get().getLifeCycleState().isRunning();
  }

  /**
   * Returns the term in which this node leads, and has applied all of earlier leaders, or {@link
   * LeadershipNews#NONE}. Ratis removes its leader state before it reports that this node does not
   * lead.
   */
  long leadingTerm() {
    try {
      DivisionInfo info = division().getInfo();
      long term = info.getCurrentTerm();
      return info.isLeader() && info.isLeaderReady() && info.getCurrentTerm() == term
          ? term
          : LeadershipNews.NONE;
    } catch (IOException e) {
      return LeadershipNews.NONE;
    }
  }

  static boolean hasPeer(Collection<RaftPeer> peers, RaftPeerId id) {
    return peers.stream().anyMatch(peer -> peer.getId().equals(id));
  }

  /** The members in the configuration that this node has; none while it has no configuration. */
  PeerGuard.Members members() {
    return new PeerGuard.Members() {
      @Override
      public boolean contains(String nodeId) {
        RaftConfiguration members = configuration();
        return members != null && members.getPeer(RaftPeerId.valueOf(nodeId)) != null;
      }

      @Override
      public Set<String> current() {
        RaftConfiguration members = configuration();
        return members == null
            ? Set.of()
            : members.getCurrentPeers().stream()
                .map(peer -> peer.getId().toString())
                .collect(Collectors.toUnmodifiableSet());
      }
    };
  }

  private @Nullable RaftConfiguration configuration() {
    RaftServer made = server.getNow(null);
    try {
      return made == null ? null : made.getDivision(RatisLog.GROUP).getRaftConf();
    } catch (IOException e) {
      return null;
    }
  }
}
