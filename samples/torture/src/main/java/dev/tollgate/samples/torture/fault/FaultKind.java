package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Access;
import dev.tollgate.samples.torture.cluster.Cluster;
import dev.tollgate.samples.torture.cluster.Network;
import dev.tollgate.samples.torture.disk.RecordedDisk;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiFunction;

/** The kinds of faults that can be requested. */
public enum FaultKind {
  /** kill -9, and a new start. */
  KILL(new Kill(), (network, access) -> Optional.empty()),
  /** SIGSTOP, and SIGCONT. */
  PAUSE(new Pause(), (network, access) -> Optional.empty()),
  /** Links between nodes, and between nodes and clients, lose everything. */
  PARTITION(new Partition(), (network, access) -> network.obstacleToPartitions()),
  /** Wall clocks jump. */
  CLOCK(new ClockJump(), (network, access) -> Cluster.obstacleToClocks()),
  /** A disk is full: the node must stop by itself, and come back. */
  DISK(new FullDisk(), (network, access) -> Cluster.obstacleToDisks()),
  /** Links are slow. */
  SLOW(new SlowLinks(), (network, access) -> network.obstacleToSlowness()),
  /** Certificates are replaced. */
  ROTATE(new Rotation(), (network, access) -> access.obstacleToRotation()),
  /** The power of disks is cut. */
  POWER(new PowerCut(), (network, access) -> RecordedDisk.obstacle()),
  /** A sync fails once: the node must stop by itself, and come back. */
  EIO(new FailedSync(), (network, access) -> RecordedDisk.obstacle()),
  /** Syncs of a disk hang. */
  HANG(new HungDisk(), (network, access) -> RecordedDisk.obstacle());

  @SuppressWarnings("ImmutableEnumChecker") // without state
  private final Fault fault;

  @SuppressWarnings("ImmutableEnumChecker") // without state
  private final BiFunction<Network, Access, Optional<String>> obstacle;

  FaultKind(Fault fault, BiFunction<Network, Access, Optional<String>> obstacle) {
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

  /** Whether the disks of nodes have to be recorded for this. */
  public boolean needsRecordedDisks() {
    return this == POWER || this == EIO || this == HANG;
  }

  /** For how long it is in effect at least, before it is healed. */
  int shortestMillis() {
    return switch (this) {
      case POWER, EIO -> 100;
      case HANG -> 10_000;
      default -> 1_500;
    };
  }

  /** For how long it is in effect at most, before it is healed. */
  int longestMillis() {
    return switch (this) {
      case POWER, EIO -> 1_000;
      case HANG -> 10_000;
      default -> 6_000;
    };
  }

  /** Why this fault cannot be injected here; empty if it can. */
  public Optional<String> obstacle(Network network, Access access) {
    return obstacle.apply(network, access);
  }

  /** Injects the fault. */
  public Injury inflict(Scene scene) throws IOException, InterruptedException {
    return fault.inflict(scene);
  }
}
