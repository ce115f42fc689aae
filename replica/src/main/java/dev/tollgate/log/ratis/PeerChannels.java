package dev.tollgate.log.ratis;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toSet;

import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.util.NetUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the channels to nodes that can be reached again, and reports which nodes a node without a
 * leader reaches. By itself a channel may come back two minutes late. The attempts of gRPC to
 * connect to a node that is down are ever further apart. So are the attempts of TCP to send again
 * into a network that was cut. A candidate meanwhile misses the votes of nodes that are there.
 * Ratis 3.3.0 has a setting for neither.
 *
 * <p>A silent node is probed with a separate connection. Its channel is renewed when it accepts a
 * connection that it did not accept before. So a node that is merely busy keeps its channel: a
 * follower that restores a snapshot is silent too, and would have to begin again.
 *
 * <p>A node that has had no leader at two checks, which are a second apart, assumes that its
 * channels failed before. At the first one, an election may be under way, and its votes may be on
 * the channels.
 */
final class PeerChannels implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeerChannels.class);

  /** After this many checks without a leader, an election takes longer than usual. */
  private static final int LEADERLESS_LOOKS = 10;

  /** Checks between two log lines, which is a line a minute with the default election timeout. */
  private static final int LOOKS_PER_LINE = 60;

  private static final int CONNECT_MILLIS = 500;

  private final String nodeId;
  private final ExecutorService probes;
  private final Supervision supervision;
  private final Consumer<RaftPeerId> renewal;
  private final ScheduledExecutorService clock;
  private final Map<RaftPeerId, Way> ways = new ConcurrentHashMap<>();
  private int leaderlessLooks;

  /** The path to a silent node. */
  private static final class Way {
    final AtomicBoolean beingProbed = new AtomicBoolean();
    volatile boolean broken;

    /**
     * @param broken what is assumed before the first probe
     */
    Way(boolean broken) {
      this.broken = broken;
    }
  }

  /**
   * @param renewal drops the channel to a node, so that the next call to it creates a new one; may
   *     take seconds
   */
  PeerChannels(String nodeId, Supervision supervision, Consumer<RaftPeerId> renewal) {
    this(
        nodeId,
        supervision,
        renewal,
        Executors.newCachedThreadPool(supervision.threads("tollgate-" + nodeId + "-peer-probe")));
  }

  PeerChannels(
      String nodeId,
      Supervision supervision,
      Consumer<RaftPeerId> renewal,
      ExecutorService probes) {
    this.nodeId = nodeId;
    this.supervision = supervision;
    this.renewal = renewal;
    this.probes = probes;
    this.clock =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + nodeId + "-peers"));
  }

  /** Checks periodically until this is closed. */
  void start(Supplier<Silence> silence, Duration period) {
    var unused =
        clock.scheduleWithFixedDelay(
            supervision.repeated(
                "looking after the channels to other nodes", () -> look(silence.get())),
            period.toMillis(),
            period.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  /** Probes the silent nodes. Called by one thread at a time. */
  void look(Silence silence) {
    leaderlessLooks = silence.leaderless() ? leaderlessLooks + 1 : 0;
    ways.keySet().retainAll(silence.peers().stream().map(RaftPeer::getId).collect(toSet()));
    if (leaderlessLooks == 1) {
      return;
    }
    for (RaftPeer peer : silence.peers()) {
      Way way = ways.computeIfAbsent(peer.getId(), id -> new Way(silence.leaderless()));
      if (way.beingProbed.compareAndSet(false, true) && !startProbe(peer, way)) {
        return;
      }
    }
    if (leaderlessLooks % LOOKS_PER_LINE == LEADERLESS_LOOKS) {
      LOG.warn(
          "{}: there is no leader. Other nodes: {}.{}",
          nodeId,
          silence.peers().stream().map(this::described).collect(joining(", ")),
          silence.emptyLog()
              ? " This node has nothing of the log yet, so its vote does not count: it takes one"
                  + " more node that was here before"
              : "");
    }
  }

  /** False if this was closed meanwhile. */
  private boolean startProbe(RaftPeer peer, Way way) {
    try {
      probes.execute(supervision.repeated("probing node " + peer.getId(), () -> probe(peer, way)));
      return true;
    } catch (RejectedExecutionException e) {
      if (!probes.isShutdown()) {
        throw e;
      }
      return false;
    }
  }

  private String described(RaftPeer peer) {
    Way way = ways.get(peer.getId());
    return peer.getId() + (way == null || way.broken ? " is not reached" : " is reached");
  }

  private void probe(RaftPeer peer, Way way) {
    try {
      if (!accepts(peer)) {
        way.broken = true;
      } else if (way.broken) {
        LOG.info("{}: {} can be reached again: its channel is renewed", nodeId, peer.getId());
        way.broken = false;
        renewal.accept(peer.getId());
      }
    } finally {
      way.beingProbed.set(false);
    }
  }

  private static boolean accepts(RaftPeer peer) {
    InetSocketAddress address = NetUtils.createSocketAddr(peer.getAddress());
    try (Socket probe = new Socket()) {
      probe.connect(address, CONNECT_MILLIS);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
    probes.shutdownNow();
  }
}
