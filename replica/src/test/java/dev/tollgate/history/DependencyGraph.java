package dev.tollgate.history;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which transaction has to come before which, and why. Adya, "Weak Consistency" (1999), chapter 4,
 * names the reasons and the cycles; real time is the fourth reason (strict serializability).
 */
final class DependencyGraph {
  /** Why one transaction comes before another. */
  enum Reason {
    /** It appended the value before the other's. */
    WW,
    /** The other has read its value. */
    WR,
    /** It has read the list as it was before the other's value. */
    RW,
    /** It had ended when the other began. */
    REAL_TIME
  }

  private static final Set<Reason> WRITES = EnumSet.of(Reason.WW);
  private static final Set<Reason> INFORMATION = EnumSet.of(Reason.WW, Reason.WR);
  private static final Set<Reason> DEPENDENCIES = EnumSet.of(Reason.WW, Reason.WR, Reason.RW);

  /** A transaction, or (without one) a moment between ends and begins. */
  private static final class Node {
    final String name;
    final List<Edge> edges = new ArrayList<>();

    Node(String name) {
      this.name = name;
    }
  }

  private record Edge(Node from, Node to, Reason reason) {}

  private final Map<ListTransaction, Node> nodes = new LinkedHashMap<>();

  void add(ListTransaction transaction) {
    nodes.put(transaction, new Node(transaction.name()));
  }

  /** Both have been added; a transaction does not depend on itself. */
  void depends(ListTransaction before, ListTransaction after, Reason reason) {
    if (!before.equals(after)) {
      connect(nodes.get(before), nodes.get(after), reason);
    }
  }

  private static void connect(Node from, Node to, Reason reason) {
    from.edges.add(new Edge(from, to, reason));
  }

  /**
   * Adds what real time says: who had ended when another began comes before it. Ends are strung up
   * in a chain of moments, so that the edges are as many as the transactions.
   */
  void addRealTime() {
    TreeMap<Long, Node> moments = new TreeMap<>();
    nodes.forEach(
        (transaction, node) -> {
          if (transaction.end() == ListTransaction.End.COMMITTED) {
            Node moment = moments.computeIfAbsent(transaction.endedNanos(), time -> new Node(""));
            connect(node, moment, Reason.REAL_TIME);
          }
        });
    Node earlier = null;
    for (Node moment : moments.values()) {
      if (earlier != null) {
        connect(earlier, moment, Reason.REAL_TIME);
      }
      earlier = moment;
    }
    nodes.forEach(
        (transaction, node) ->
            Optional.ofNullable(moments.lowerEntry(transaction.beganNanos()))
                .ifPresent(moment -> connect(moment.getValue(), node, Reason.REAL_TIME)));
  }

  /** The worst kind of cycle that there is, with one such cycle as an example. */
  Optional<String> anomaly() {
    return cycle(Reason.WW, WRITES)
        .map(cycle -> "G0 (dirty write): " + text(cycle))
        .or(() -> cycle(Reason.WR, INFORMATION).map(c -> "G1c (circular flow): " + text(c)))
        .or(() -> cycle(Reason.RW, INFORMATION).map(c -> "G-single (read skew): " + text(c)))
        .or(() -> cycle(Reason.RW, DEPENDENCIES).map(c -> "G2 (write skew): " + text(c)))
        .or(
            () ->
                cycle(Reason.REAL_TIME, EnumSet.allOf(Reason.class))
                    .map(c -> "against real time: " + text(c)));
  }

  /** A shortest cycle that begins with an edge of one reason and goes on by others. */
  private Optional<List<Edge>> cycle(Reason first, Set<Reason> others) {
    List<List<Edge>> cycles = new ArrayList<>();
    Map<Node, Integer> components = components(first, others);
    for (Node node : nodes.values()) {
      for (Edge edge : node.edges) {
        if (edge.reason == first && components.get(edge.from).equals(components.get(edge.to))) {
          path(edge, others).ifPresent(cycles::add);
        }
      }
    }
    return cycles.stream().min(Comparator.comparing(List::size));
  }

  private static Optional<List<Edge>> path(Edge first, Set<Reason> others) {
    Map<Node, Edge> cameBy = new HashMap<>();
    Deque<Node> next = new ArrayDeque<>();
    next.add(first.to);
    while (!next.isEmpty() && !cameBy.containsKey(first.from)) {
      for (Edge edge : next.remove().edges) {
        if (others.contains(edge.reason) && cameBy.putIfAbsent(edge.to, edge) == null) {
          next.add(edge.to);
        }
      }
    }
    if (!cameBy.containsKey(first.from)) {
      return Optional.empty();
    }
    Deque<Edge> path = new ArrayDeque<>();
    for (Node at = first.from; at != first.to || path.isEmpty(); at = cameBy.get(at).from) {
      path.addFirst(cameBy.get(at));
    }
    path.addFirst(first);
    return Optional.of(List.copyOf(path));
  }

  /** Which nodes can reach each other: Tarjan's algorithm without recursion. */
  private Map<Node, Integer> components(Reason first, Set<Reason> others) {
    Set<Reason> reasons = EnumSet.of(first);
    reasons.addAll(others);
    return new Components(reasons).of(nodes.values());
  }

  private static String text(List<Edge> cycle) {
    StringBuilder text = new StringBuilder(cycle.get(0).from.name);
    for (Edge edge : cycle) {
      if (!edge.to.name.isEmpty()) {
        text.append(" -").append(edge.reason).append("-> ").append(edge.to.name);
      }
    }
    return text.toString();
  }

  /** Strongly connected components. */
  private static final class Components {
    private final Set<Reason> reasons;
    private final Map<Node, Integer> numbers = new HashMap<>();
    private final Map<Node, Integer> lowest = new HashMap<>();
    private final Map<Node, Integer> components = new HashMap<>();
    private final Deque<Node> undecided = new ArrayDeque<>();

    Components(Set<Reason> reasons) {
      this.reasons = reasons;
    }

    /** A node with the edges that were not followed yet. */
    private record Visit(Node node, Deque<Edge> rest) {}

    Map<Node, Integer> of(Iterable<Node> roots) {
      for (Node root : roots) {
        if (!numbers.containsKey(root)) {
          search(root);
        }
      }
      return components;
    }

    private void search(Node root) {
      Deque<Visit> path = new ArrayDeque<>();
      path.push(enter(root));
      while (!path.isEmpty()) {
        Visit visit = path.peek();
        Edge edge = visit.rest.poll();
        if (edge == null) {
          path.pop();
          leave(visit.node);
          if (!path.isEmpty()) {
            lowest.merge(path.peek().node, lowest.get(visit.node), Math::min);
          }
        } else if (!numbers.containsKey(edge.to)) {
          path.push(enter(edge.to));
        } else if (!components.containsKey(edge.to)) {
          lowest.merge(visit.node, numbers.get(edge.to), Math::min);
        }
      }
    }

    private Visit enter(Node node) {
      numbers.put(node, numbers.size());
      lowest.put(node, numbers.get(node));
      undecided.push(node);
      Deque<Edge> edges = new ArrayDeque<>();
      for (Edge edge : node.edges) {
        if (reasons.contains(edge.reason)) {
          edges.add(edge);
        }
      }
      return new Visit(node, edges);
    }

    private void leave(Node node) {
      if (lowest.get(node).equals(numbers.get(node))) {
        Node member;
        do {
          member = undecided.pop();
          components.put(member, numbers.get(node));
        } while (member != node);
      }
    }
  }
}
