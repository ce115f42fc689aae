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
 * @param incarnations the incarnation of each node's data directory, by node id, for the nodes that
 *     have announced one
 * @param removed removed nodes that no longer belong to the cluster, oldest first
 */
public record ClusterIdentity(
    @Nullable UniqueId clusterId, SortedMap<String, UniqueId> incarnations, List<String> removed) {
  /** The identity of a cluster that has applied nothing. */
  public static final ClusterIdentity NONE = new ClusterIdentity(null, new TreeMap<>(), List.of());

  public ClusterIdentity {
    incarnations = Collections.unmodifiableSortedMap(new TreeMap<>(incarnations));
    removed = List.copyOf(removed);
  }
}
