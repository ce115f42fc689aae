package dev.tollgate.samples.torture.fault;

import static java.util.Objects.requireNonNull;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A fault at work.
 *
 * @param detail what was done to whom
 * @param nodes by name
 * @param leavesQuorum whether a majority of the nodes is well, and connected
 * @param isolatedHosts places of clients that reach no majority
 * @param healing puts all right again
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

  /** How an injury ends. */
  @FunctionalInterface
  public interface Healing {
    /** Returns when nothing of it is left that the cluster would not have to overcome by itself. */
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
