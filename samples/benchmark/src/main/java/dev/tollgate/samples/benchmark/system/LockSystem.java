package dev.tollgate.samples.benchmark.system;

import java.time.Duration;
import java.util.Set;

/** A running system, as its clients see it. */
public interface LockSystem {
  /** The name of the system in tables. */
  String name();

  Set<Ability> abilities();

  /**
   * Connects a client that is ready to go.
   *
   * @param lease how long its locks outlive the client, where clients can choose that
   */
  LockClient connect(Duration lease) throws Exception;

  /** Opens leases that hold nothing, and keeps them alive until this process ends. */
  default void keepLeases(int count, Duration lease) throws Exception {
    throw new UnsupportedOperationException(name() + ": " + Ability.KEEP_LEASES.lacking());
  }

  /** Ends what its clients share. */
  void shutDown() throws Exception;
}
