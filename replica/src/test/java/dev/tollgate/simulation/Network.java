package dev.tollgate.simulation;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Who can reach whom, how long that takes, and what gets lost. */
final class Network {
  private final World world;

  /** Pairs "from>to" through which nothing passes, with how many faults block each. */
  private final Map<String, Integer> blocked = new TreeMap<>();

  double loss;
  double duplication;
  long extraDelayNanos;

  Network(World world) {
    this.world = world;
  }

  boolean passes(String from, String to) {
    return blocked.isEmpty() || !blocked.containsKey(from + ">" + to);
  }

  void block(Iterable<String> pairs) {
    pairs.forEach(pair -> blocked.merge(pair, 1, Integer::sum));
  }

  void unblock(Iterable<String> pairs) {
    pairs.forEach(pair -> blocked.computeIfPresent(pair, (p, n) -> n == 1 ? null : n - 1));
  }

  /** True while anything but chance keeps messages back. */
  boolean isDisturbed() {
    return !blocked.isEmpty() || loss > 0 || extraDelayNanos > 0;
  }

  long delay() {
    long usual = world.between(World.millis(1) / 5, World.millis(2));
    return usual
        + (world.chance(0.01) ? world.between(0, World.millis(40)) : 0)
        + (extraDelayNanos > 0 ? world.between(0, extraDelayNanos) : 0);
  }

  /** Sends a message that may be lost, come twice, or overtake another. */
  void send(String from, String to, Runnable delivery) {
    world.count("messages between nodes");
    int copies = world.chance(duplication) ? 2 : 1;
    for (int i = 0; i < copies; i++) {
      if (world.chance(loss)) {
        world.count("messages lost");
      } else {
        world.after(
            delay(),
            () -> {
              if (passes(from, to)) {
                delivery.run();
              }
            });
      }
    }
    if (copies == 2) {
      world.count("messages doubled");
    }
  }

  /** All pairs between two groups, in one direction. */
  static Set<String> pairs(Iterable<String> from, Iterable<String> to) {
    TreeSet<String> pairs = new TreeSet<>();
    from.forEach(a -> to.forEach(b -> pairs.add(a + ">" + b)));
    return pairs;
  }
}
