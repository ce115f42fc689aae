package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Cluster;
import dev.tollgate.samples.torture.cluster.Network;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** The kinds of faults that can be requested. */
public enum FaultKind {
  /** kill -9, and a new start. */
  KILL(new Kill(), network -> Optional.empty()),
  /** SIGSTOP, and SIGCONT. */
  PAUSE(new Pause(), network -> Optional.empty()),
  /** Links between nodes, and between nodes and clients, lose everything. */
  PARTITION(new Partition(), Network::obstacleToPartitions),
  /** Wall clocks jump. */
  CLOCK(new ClockJump(), network -> Cluster.obstacleToClocks()),
  /** A disk is full: the node must stop by itself, and come back. */
  DISK(new FullDisk(), network -> Cluster.obstacleToDisks()),
  /** Links are slow. */
  SLOW(new SlowLinks(), Network::obstacleToSlowness);

  @SuppressWarnings("ImmutableEnumChecker") // without state
  private final Fault fault;

  @SuppressWarnings("ImmutableEnumChecker") // without state
  private final Function<Network, Optional<String>> obstacle;

  FaultKind(Fault fault, Function<Network, Optional<String>> obstacle) {
    this.fault = fault;
    this.obstacle = obstacle;
  }

  /** The word for this kind on the command line. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The kind with this word. */
  public static Optional<FaultKind> find(String word) {
    return Arrays.stream(values()).filter(kind -> kind.word().equals(word)).findFirst();
  }

  /** Why this fault cannot be injected here; empty if it can. */
  public Optional<String> obstacle(Network network) {
    return obstacle.apply(network);
  }

  /** Injects the fault. */
  public Injury inflict(Scene scene) throws IOException, InterruptedException {
    return fault.inflict(scene);
  }
}
