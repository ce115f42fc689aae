package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;

/**
 * Keeps a member connected to all others, also to those to which it has nothing to say. Followers
 * need each other once the leader has died: then there is no time to connect, to shake hands, or to
 * find out that a connection has been silent for hours.
 */
final class KeptLinks implements AutoCloseable {
  private static final int ELECTION_TIMEOUTS = 2;

  private final PeerSettings settings;
  private final RaftServer server;
  private final Function<RaftPeer, PeerLink> links;
  private final ScheduledExecutorService clock;

  KeptLinks(PeerSettings settings, RaftServer server, Function<RaftPeer, PeerLink> links) {
    this.settings = requireNonNull(settings, "settings");
    this.server = requireNonNull(server, "server");
    this.links = requireNonNull(links, "links");
    this.clock =
        Executors.newSingleThreadScheduledExecutor(
            settings.supervision().threads("tollgate-" + settings.nodeId() + "-keeps-links"));
  }

  void start() {
    var unused =
        clock.scheduleWithFixedDelay(
            settings.supervision().repeated("the links to other nodes", this::keep),
            0,
            ELECTION_TIMEOUTS * settings.electionMillis(),
            TimeUnit.MILLISECONDS);
  }

  private void keep() {
    RaftConfiguration members;
    try {
      members = server.getDivision(settings.group()).getRaftConf();
    } catch (IOException e) {
      // the node has left its group, or is closing
      return;
    }
    RaftPeerId self = server.getId();
    if (members.getPeer(self) == null) {
      return;
    }
    for (RaftPeer peer : members.getCurrentPeers()) {
      if (!peer.getId().equals(self)) {
        links.apply(peer).keep();
      }
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
