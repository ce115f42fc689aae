package dev.tollgate.samples.torture.fault;

import static java.util.Objects.requireNonNull;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A fault that is in effect.
 *
 * @param detail what was done to which nodes
 * @param nodes the names of these nodes
 * @param leavesQuorum whether a majority of the nodes is well, and connected
 * @param isolatedHosts hosts of clients that reach no majority
 * @param healing ends the fault
 */
public record Injury(
    String detail,
    Set<String> nodes,
    boolean leavesQuorum,
    Set<Integer> isolatedHosts,
    Healing healing) {

  public Injury {
    requireNonNull(detail, "detail");
    requireNonNull(healing, "healing");
    nodes = Set.copyOf(nodes);
    isolatedHosts = Set.copyOf(isolatedHosts);
  }

  /** How a fault ends. */
  @FunctionalInterface
  public interface Healing {
    /** Returns when the only effects left are those that the cluster has to overcome by itself. */
    void heal() throws IOException, InterruptedException;
  }

  static Injury of(String detail, List<Node> nodes, boolean leavesQuorum, Healing healing) {
    return new Injury(
        detail,
        nodes.stream().map(Node::name).collect(Collectors.toSet()),
        leavesQuorum,
        Set.of(),
        healing);
  }
}
