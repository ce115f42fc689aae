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
  private final Map<String, NodeVersion> connected = new ConcurrentHashMap<>();

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

  void connected(String nodeId, NodeVersion version) {
    connected.put(nodeId, version);
  }

  void disconnected(String nodeId) {
    connected.remove(nodeId);
  }

  /** The nodes to which this node is connected, and what they have said. */
  public SortedMap<String, NodeVersion> all() {
    return new TreeMap<>(connected);
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
