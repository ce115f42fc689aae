package dev.tollgate.transport;

import dev.tollgate.wire.Reply.ClusterView;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the nodes of one cluster: where they are, which one leads, and which ones did
 * not answer. A node that is stopped may take seconds to try, so it is tried last. Thread-safe.
 */
final class ClusterMap {
  /** More than any cluster has; a node that names more is not believed. */
  private static final int MAX_LEARNED = 100;

  private final List<String> seeds;
  private final boolean learns;

  /** In the order in which they failed to answer. */
  private final Set<String> doubted = new LinkedHashSet<>();

  private List<String> learned = List.of();
  private @Nullable String leader;
  private @Nullable String clusterId;

  private ClusterMap(List<String> seeds, boolean learns) {
    this.seeds = List.copyOf(seeds);
    this.learns = learns;
  }

  static ClusterMap ofSeeds(List<NodeAddress> seeds) {
    return new ClusterMap(seeds.stream().map(NodeAddress::toString).toList(), true);
  }

  /** The map of a cluster that is one node, whatever that says of itself. */
  static ClusterMap ofOne(String node) {
    return new ClusterMap(List.of(node), false);
  }

  /**
   * True if a node is of the cluster whose nodes this map has. The first id that a node says is
   * that of the cluster.
   *
   * @param id null if the node does not say
   */
  synchronized boolean isOfCluster(@Nullable String id) {
    if (clusterId == null) {
      clusterId = id;
    }
    return id == null || id.equals(clusterId);
  }

  /** The cluster whose nodes these are, or null if none has said. */
  synchronized @Nullable String clusterId() {
    return clusterId;
  }

  synchronized void learn(ClusterView view) {
    if (!learns) {
      return;
    }
    leader = view.leaderAddress();
    if (!view.addresses().isEmpty() && view.addresses().size() <= MAX_LEARNED) {
      learned = view.addresses();
    }
  }

  /** This node did not answer: until it does again it is tried after all others. */
  synchronized void doubt(String address) {
    doubted.remove(address);
    doubted.add(address);
  }

  /** This node answered. */
  synchronized void trust(String address) {
    doubted.remove(address);
  }

  /** The leader, if one is known that has another address than this, and is not doubted. */
  synchronized Optional<String> leaderBesides(String address) {
    return Optional.ofNullable(leader)
        .filter(known -> !known.equals(address) && !doubted.contains(known));
  }

  /**
   * Where to try, in this order.
   *
   * @param leaderFirst false to keep the order of the URL
   */
  synchronized List<String> candidates(boolean leaderFirst) {
    Set<String> all = new LinkedHashSet<>();
    if (leaderFirst && leader != null) {
      all.add(leader);
    }
    all.addAll(seeds);
    all.addAll(learned);
    doubted.retainAll(all);
    List<String> candidates = new ArrayList<>(all);
    candidates.removeAll(doubted);
    // who failed long ago may be well again, and lead: before waiting for who has just failed
    candidates.addAll(doubted);
    return candidates;
  }

  @Override
  public String toString() {
    return String.join(", ", seeds);
  }
}
