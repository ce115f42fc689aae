package dev.tollgate.transport;

import dev.tollgate.wire.Reply.ClusterView;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The known nodes of one cluster: their addresses, which node leads, and which nodes did not
 * answer. Trying a stopped node may take seconds, so it is tried last. Thread-safe.
 */
final class ClusterMap {
  /** More nodes than any cluster has; a longer list from a node is ignored. */
  private static final int MAX_LEARNED = 100;

  private final List<String> seeds;
  private final boolean learns;

  /** Nodes that did not answer, in the order in which they failed. */
  private final Set<String> doubted = new LinkedHashSet<>();

  private List<String> learned = List.of();
  private @Nullable String leader;
  private @Nullable String clusterId;
  private long changes;

  private ClusterMap(List<String> seeds, boolean learns) {
    this.seeds = List.copyOf(seeds);
    this.learns = learns;
  }

  static ClusterMap ofSeeds(List<NodeAddress> seeds) {
    return new ClusterMap(seeds.stream().map(NodeAddress::toString).toList(), true);
  }

  /** The map of a cluster of one node, whatever the node says about itself. */
  static ClusterMap ofOne(String node) {
    return new ClusterMap(List.of(node), false);
  }

  /**
   * True if a node belongs to the cluster of this map. The first id that a node reports becomes the
   * id of the cluster.
   *
   * @param id null if the node reports none
   */
  synchronized boolean isOfCluster(@Nullable String id) {
    if (clusterId == null) {
      clusterId = id;
    }
    return id == null || id.equals(clusterId);
  }

  /** The id of the cluster, or null if no node has reported one. */
  synchronized @Nullable String clusterId() {
    return clusterId;
  }

  /**
   * Takes what a node says about its cluster. A node that knows no leader, because it hears no
   * other node, says nothing about another one that leads. The former leader has just been in touch
   * with the node that it names, so that node is not doubted any more.
   */
  synchronized void learn(ClusterView view, String saidBy) {
    if (!learns) {
      return;
    }
    String leaderBefore = leader;
    List<String> learnedBefore = learned;
    boolean formerLeader = saidBy.equals(leader);
    if (formerLeader) {
      doubted.remove(view.leaderAddress());
    }
    if (formerLeader || view.leaderAddress() != null) {
      leader = view.leaderAddress();
    }
    if (!view.addresses().isEmpty() && view.addresses().size() <= MAX_LEARNED) {
      learned = view.addresses();
    }
    if (!Objects.equals(leader, leaderBefore) || !learned.equals(learnedBefore)) {
      changes++;
      notifyAll();
    }
  }

  /** How often another leader or other nodes became known. */
  synchronized long changes() {
    return changes;
  }

  /**
   * Waits until there was one more change than so many.
   *
   * @param longestMillis 0 for no limit
   */
  synchronized void awaitChange(long before, long longestMillis) throws InterruptedException {
    long deadline = System.nanoTime() + longestMillis * 1_000_000;
    while (changes == before) {
      long leftMillis = (deadline - System.nanoTime()) / 1_000_000 + 1;
      if (longestMillis > 0 && leftMillis <= 0) {
        return;
      }
      wait(longestMillis == 0 ? 0 : leftMillis);
    }
  }

  /** Records that a node did not answer: until it answers, it is tried after all others. */
  synchronized void doubt(String address) {
    doubted.remove(address);
    doubted.add(address);
  }

  /** Records that a node answered. */
  synchronized void trust(String address) {
    doubted.remove(address);
  }

  /** The leader, if it is known, has another address than this, and is not doubted. */
  synchronized Optional<String> leaderBesides(String address) {
    return Optional.ofNullable(leader)
        .filter(known -> !known.equals(address) && !doubted.contains(known));
  }

  /**
   * The addresses to try, in this order.
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
    // a node that failed long ago may be back, and lead: try it before one that has just failed
    candidates.addAll(doubted);
    return candidates;
  }

  /**
   * The nodes that are not known to lead. Those that answered come first, in random order, so that
   * many processes do not all turn to the same one.
   */
  synchronized List<String> besidesLeader() {
    List<String> others = candidates(/* leaderFirst= */ false);
    others.remove(leader);
    int trusted = (int) others.stream().filter(address -> !doubted.contains(address)).count();
    Collections.shuffle(others.subList(0, trusted), ThreadLocalRandom.current());
    return others;
  }

  @Override
  public String toString() {
    return String.join(", ", seeds);
  }
}
