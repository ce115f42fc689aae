package dev.tollgate.core.command;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a cluster and of its nodes.
 *
 * @param clusterId null until the first leader has named the cluster
 * @param key null as long as the cluster has no id
 * @param incarnations the incarnation of each node's data directory, by node id, for the nodes that
 *     have announced one
 * @param removed removed nodes that no longer belong to the cluster, oldest first
 */
public record ClusterIdentity(
    @Nullable UniqueId clusterId,
    @Nullable ClusterKey key,
    SortedMap<String, UniqueId> incarnations,
    List<String> removed) {
  /** The identity of a cluster that has applied nothing. */
  public static final ClusterIdentity NONE =
      new ClusterIdentity(null, null, new TreeMap<>(), List.of());

  public ClusterIdentity {
    if ((clusterId == null) != (key == null)) {
      throw new IllegalArgumentException("a cluster has an id and a key, or neither");
    }
    incarnations = Collections.unmodifiableSortedMap(new TreeMap<>(incarnations));
    removed = List.copyOf(removed);
  }

  /** The same nodes, in a cluster with this id and key. */
  public ClusterIdentity named(UniqueId id, ClusterKey drawn) {
    return new ClusterIdentity(id, drawn, incarnations, removed);
  }

  /** The same cluster, of these nodes. */
  public ClusterIdentity with(SortedMap<String, UniqueId> nodes, List<String> removedNodes) {
    return new ClusterIdentity(clusterId, key, nodes, removedNodes);
  }
}
