package dev.tollgate.core.command;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * By what a cluster knows itself and its nodes.
 *
 * @param clusterId null until the first leader has named the cluster
 * @param incarnations the data directory of each node, by node id, of the nodes that have told
 * @param removed nodes that were removed and are none of the cluster any more, oldest first
 */
public record ClusterIdentity(
    @Nullable UniqueId clusterId, SortedMap<String, UniqueId> incarnations, List<String> removed) {
  /** That of a cluster that has applied nothing. */
  public static final ClusterIdentity NONE = new ClusterIdentity(null, new TreeMap<>(), List.of());

  public ClusterIdentity {
    incarnations = Collections.unmodifiableSortedMap(new TreeMap<>(incarnations));
    removed = List.copyOf(removed);
  }
}
