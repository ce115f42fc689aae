package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.FairPlaces;
import dev.tollgate.log.LineBudget;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections of other nodes: one of each node, which replaces the one before, and a
 * bounded number of those that have not said who they are. Connections from addresses of members
 * have places of their own, so those from other addresses keep no member out. Thread-safe.
 */
final class PeerListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeerListener.class);

  /** Connections that have not said who they are; and as many from the addresses of members. */
  static final int MAX_STRANGERS = 64;

  /** Nodes that are connected; more than any cluster has. */
  private static final int MAX_NODES = 64;

  /** How long a connection may take to say who it is, however slowly it says it. */
  private static final long STRANGER_MILLIS = 3L * PeerSockets.HELLO_MILLIS;

  /** After an error of the listening socket, such as too many open files. */
  private static final long PAUSE_MILLIS = 100;

  private final PeerSettings settings;
  private final RaftServer server;
  private final InetSocketAddress address;
  private final LeaderDeath death;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, AcceptedPeer> peers = new HashMap<>();
  private final FairPlaces<AcceptedPeer> strangers =
      new FairPlaces<>(MAX_STRANGERS, stranger -> true);

  /** From the addresses of members: strangers with many addresses keep no member out. */
  private final FairPlaces<AcceptedPeer> fromMembers =
      new FairPlaces<>(MAX_STRANGERS, stranger -> true);

  /** Lines about connections that do not keep to the protocol. */
  private final LineBudget complaints =
      new LineBudget(
          Limits.LOGGED_REFUSALS,
          Duration.ofMinutes(1).dividedBy(Limits.LOGGED_REFUSALS),
          System::nanoTime);

  private @Nullable ServerSocket socket;
  private boolean closed;

  PeerListener(PeerSettings settings, RaftServer server, InetSocketAddress address) {
    this.settings = requireNonNull(settings, "settings");
    this.server = requireNonNull(server, "server");
    this.address = requireNonNull(address, "address");
    this.death = new LeaderDeath(settings, server);
  }

  /**
   * Begins to accept connections.
   *
   * @throws IOException if the address cannot be used
   */
  void start() throws IOException {
    ServerSocket listening = PeerSockets.listen(address);
    socket = listening;
    settings
        .supervision()
        .thread("tollgate-" + settings.nodeId() + "-accepts-peers", () -> accept(listening))
        .start();
  }

  private void accept(ServerSocket listening) {
    while (!listening.isClosed()) {
      try {
        accepted(listening.accept());
      } catch (IOException e) {
        if (!listening.isClosed()) {
          LOG.warn("{}: no connection is accepted for a moment", settings.nodeId(), e);
          pause();
        }
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void accepted(Socket connection) {
    AcceptedPeer peer = new AcceptedPeer(settings, server, connection, new Registry());
    AcceptedPeer dropped;
    InetAddress from = connection.getInetAddress();
    FairPlaces<AcceptedPeer> places =
        settings.guard().addresses().contains(from) ? fromMembers : strangers;
    mutex.lock();
    try {
      dropped = closed ? peer : places.take(peer, from);
    } finally {
      mutex.unlock();
    }
    if (dropped != null) {
      dropped.close();
    }
    if (dropped == peer) {
      return;
    }
    var unused =
        peer.greeted()
            .orTimeout(STRANGER_MILLIS, TimeUnit.MILLISECONDS)
            .exceptionally(
                tooLate -> {
                  peer.close();
                  return null;
                });
    settings
        .supervision()
        .thread("tollgate-" + settings.nodeId() + "-from-peer", peer::serve)
        .start();
  }

  private void giveBack(AcceptedPeer peer) {
    strangers.giveBack(peer);
    fromMembers.giveBack(peer);
  }

  /** Keeps one connection of each node. */
  private final class Registry implements AcceptedPeer.Owner {
    @Override
    public void accepted(AcceptedPeer peer, String nodeId) {
      AcceptedPeer before;
      boolean room;
      mutex.lock();
      try {
        giveBack(peer);
        room = !closed && (peers.containsKey(nodeId) || peers.size() < MAX_NODES);
        before = room ? peers.put(nodeId, peer) : peer;
      } finally {
        mutex.unlock();
      }
      if (before != null) {
        before.close();
      }
    }

    @Override
    public void misbehaved(String from, String how) {
      long leftOut = complaints.take();
      if (leftOut >= 0) {
        LOG.warn(
            "{}: the connection of {} is closed: {}{}",
            settings.nodeId(),
            from,
            how,
            LineBudget.leftOut(leftOut));
      }
    }

    @Override
    public void ended(AcceptedPeer peer, @Nullable String nodeId) throws InterruptedException {
      boolean last;
      mutex.lock();
      try {
        giveBack(peer);
        last = !closed && nodeId != null && peers.remove(nodeId, peer);
      } finally {
        mutex.unlock();
      }
      if (last) {
        death.examine(requireNonNull(nodeId));
      }
    }
  }

  @Override
  public void close() throws IOException {
    Set<AcceptedPeer> all;
    mutex.lock();
    try {
      closed = true;
      all = new HashSet<>(peers.values());
      all.addAll(strangers.all());
      all.addAll(fromMembers.all());
    } finally {
      mutex.unlock();
    }
    death.close();
    if (socket != null) {
      socket.close();
    }
    List.copyOf(all).forEach(AcceptedPeer::close);
  }
}
