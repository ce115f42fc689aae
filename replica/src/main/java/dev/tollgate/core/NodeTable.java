package dev.tollgate.core;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.UniqueId;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The cluster's id and its nodes. The first incarnation announced under a node's name is that node
 * until the node is removed. Another data directory under that name belongs to another node, or has
 * lost the node's votes and entries.
 */
final class NodeTable {
  private final SortedMap<String, String> addresses = new TreeMap<>();

  /** Replaced as a whole, for readers on other threads. */
  private volatile ClusterIdentity identity = ClusterIdentity.NONE;

  /** Where clients reach each node, by node id. */
  SortedMap<String, String> addresses() {
    return Collections.unmodifiableSortedMap(addresses);
  }

  ClusterIdentity identity() {
    return identity;
  }

  /**
   * Gives the cluster an id and a key, unless it has them.
   *
   * @return false if the cluster has another id
   */
  boolean name(UniqueId clusterId, ClusterKey key) {
    ClusterIdentity known = identity;
    if (known.clusterId() == null) {
      identity = known.named(clusterId, key);
    }
    return clusterId.equals(identity.clusterId());
  }

  /** The result of an announcement. */
  enum Announced {
    UNCHANGED,
    MOVED,
    /** The name belongs to another incarnation, or a removed node announced an incarnation. */
    REFUSED
  }

  /**
   * Records where clients reach a node.
   *
   * @param incarnation null if the leader speaks for a node that it has just added, or if the node
   *     runs a version without incarnations
   */
  Announced announce(String nodeId, String clientAddress, @Nullable UniqueId incarnation) {
    UniqueId known = identity.incarnations().get(nodeId);
    if (known != null && !known.equals(incarnation)) {
      return Announced.REFUSED;
    }
    if (incarnation != null && identity.removed().contains(nodeId)) {
      return Announced.REFUSED;
    }
    if (incarnation != null && known == null) {
      SortedMap<String, UniqueId> incarnations = new TreeMap<>(identity.incarnations());
      incarnations.put(nodeId, incarnation);
      identity = identity.with(incarnations, identity.removed());
    } else if (incarnation == null && identity.removed().contains(nodeId)) {
      LinkedHashSet<String> removed = new LinkedHashSet<>(identity.removed());
      removed.remove(nodeId);
      identity = identity.with(identity.incarnations(), List.copyOf(removed));
    }
    String before = addresses.put(nodeId, clientAddress);
    return clientAddress.equals(before) ? Announced.UNCHANGED : Announced.MOVED;
  }

  /**
   * Forgets a node that was removed, except its name.
   *
   * @return true if the node's address for clients was known
   */
  boolean forget(String nodeId) {
    SortedMap<String, UniqueId> incarnations = new TreeMap<>(identity.incarnations());
    incarnations.remove(nodeId);
    LinkedHashSet<String> removed = new LinkedHashSet<>(identity.removed());
    removed.remove(nodeId);
    removed.add(nodeId);
    if (removed.size() > Limits.REMOVED_NODES) {
      removed.remove(removed.iterator().next());
    }
    identity = identity.with(incarnations, List.copyOf(removed));
    return addresses.remove(nodeId) != null;
  }

  void restore(StateRecord.NodeAddress node) {
    addresses.put(node.nodeId(), node.clientAddress());
  }

  void restore(ClusterIdentity restored) {
    identity = restored;
  }
}
