package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.NodeVersion;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the programs of other nodes know, for as long as this node is connected to them. A node says
 * it when a connection to it begins, so a node that is started again with another version says it
 * again. Thread-safe.
 */
public final class PeerVersions {
  private final NodeVersion own;
  private final IntSupplier clusterLevel;
  private final Map<String, Said> connected = new ConcurrentHashMap<>();

  /** What a node has said on a connection. */
  private record Said(PeerConnection connection, NodeVersion version) {}

  /**
   * @param own what this node says
   * @param clusterLevel the feature level of the cluster, as far as this node has applied its log
   */
  public PeerVersions(NodeVersion own, IntSupplier clusterLevel) {
    this.own = requireNonNull(own, "own");
    this.clusterLevel = requireNonNull(clusterLevel, "clusterLevel");
  }

  NodeVersion own() {
    return own;
  }

  void connected(String nodeId, PeerConnection connection, NodeVersion version) {
    connected.put(nodeId, new Said(connection, version));
  }

  /** Forgets what a node has said on a connection, but not what it says on a later one. */
  void disconnected(String nodeId, PeerConnection connection) {
    connected.computeIfPresent(nodeId, (id, said) -> said.connection() == connection ? null : said);
  }

  /** The nodes to which this node is connected, and what they have said. */
  public SortedMap<String, NodeVersion> all() {
    SortedMap<String, NodeVersion> versions = new TreeMap<>();
    connected.forEach((nodeId, said) -> versions.put(nodeId, said.version()));
    return versions;
  }

  /** Returns why a node of this version cannot be added to the cluster, or null if it can. */
  PeerGuard.@Nullable Refusal checkJoining(NodeVersion joining) {
    int level = clusterLevel.getAsInt();
    return joining.featureLevel() >= level
        ? null
        : new PeerGuard.Refusal(
            PeerGuard.Reason.EARLIER_VERSION,
            "it runs "
                + joining.describe()
                + " and knows feature level "
                + joining.featureLevel()
                + ", and the cluster has level "
                + level);
  }
}
