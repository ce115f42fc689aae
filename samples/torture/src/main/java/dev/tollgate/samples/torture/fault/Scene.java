package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Cluster;
import dev.tollgate.samples.torture.cluster.Node;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Where a fault happens.
 *
 * @param leader the leader as far as is known
 * @param clientHosts the two hosts in the network where clients run
 * @param random the random numbers of this fault alone
 */
public record Scene(Cluster cluster, Node leader, List<Integer> clientHosts, Random random) {
  private static final double LEADER = 0.6;

  /** All nodes but this one, in random order. */
  List<Node> others(Node node) {
    List<Node> others = new ArrayList<>(cluster.nodes());
    others.remove(node);
    Collections.shuffle(others, random);
    return others;
  }

  Node follower() {
    return others(leader).get(0);
  }

  boolean chance(double probability) {
    return random.nextDouble() < probability;
  }

  /** The leader in most cases, else another node. */
  Node victim() {
    return chance(LEADER) ? leader : follower();
  }

  /** One node as {@link #victim} has it, and now and then most or all of them. */
  List<Node> victims(double several) {
    if (chance(several)) {
      List<Node> order = others(leader);
      order.add(0, leader);
      boolean all = chance(0.5);
      return order.subList(0, all ? order.size() : cluster.minority() + 1);
    }
    return List.of(victim());
  }

  /** Names nodes for a reader: {@code n2 (leader)}, {@code n1 and n3}. */
  String names(List<Node> nodes) {
    if (nodes.size() == cluster.nodes().size()) {
      return "all nodes";
    }
    return nodes.stream()
        .map(node -> node.equals(leader) ? node.name() + " (leader)" : node.name())
        .collect(Collectors.joining(" and "));
  }

  boolean leavesQuorum(List<Node> victims) {
    return victims.size() <= cluster.minority();
  }
}
