package dev.tollgate.transport;

import java.time.Duration;

/** A driver that takes no silence for the death of a node: only news make it leave one. */
public final class PatientDriver {
  private static final Duration SILENCE = Duration.ofHours(1);

  private PatientDriver() {}

  /** A registry of its own. */
  public static ClusterRegistry registry() {
    Timing usual = Timing.STANDARD;
    Timing patient =
        new Timing(
            usual.pingAfter(),
            SILENCE,
            usual.tick(),
            usual.longestInterval(),
            usual.cancelAgain(),
            usual.closeWait(),
            usual.renewWait());
    return new ClusterRegistry(
        new Timekeeping(System::nanoTime, patient), Cluster::installedProviders);
  }
}
