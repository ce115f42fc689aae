package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.ReadConsistency;
import java.time.Duration;

/**
 * What a session is opened with.
 *
 * @param session how long the cluster keeps the session without hearing of it
 * @param lease ttl of the session's own lease
 * @param lockWait how long acquire_lock waits where the call does not say
 * @param failover how long a request is tried while no healthy node has it
 * @param connect how long one node may take to accept a connection
 * @param network how long a reply may take in all, zero for ever
 * @param application name of the application, for operators
 */
public record SessionSettings(
    Duration session,
    Duration lease,
    Duration lockWait,
    Duration failover,
    Duration connect,
    Duration network,
    ReadConsistency readConsistency,
    String application) {
  public SessionSettings {
    requirePositive("session", session);
    requirePositive("lease", lease);
    requireNonNull(lockWait, "lockWait");
    requirePositive("failover", failover);
    requirePositive("connect", connect);
    requireNonNull(network, "network");
    requireNonNull(readConsistency, "readConsistency");
    requireNonNull(application, "application");
  }

  private static void requirePositive(String name, Duration duration) {
    if (requireNonNull(duration, name).isNegative() || duration.isZero()) {
      throw new IllegalArgumentException(name + ": " + duration);
    }
  }
}
