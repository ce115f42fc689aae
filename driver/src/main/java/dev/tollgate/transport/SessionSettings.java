package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import java.time.Duration;

/**
 * The settings with which a session is opened.
 *
 * @param session how long the cluster keeps the session without a heartbeat
 * @param lease ttl of the session's own lease
 * @param lockWait how long acquire_lock waits if the call does not say
 * @param failover how long a request is tried while no healthy node has it
 * @param connect how long one node may take to accept a connection
 * @param network how long a whole reply may take, zero for no limit
 * @param application name of the application, for operators
 * @param credentials used if a node requires them
 * @param timeZone name of the time zone of the session
 */
public record SessionSettings(
    Duration session,
    Duration lease,
    Duration lockWait,
    Duration failover,
    Duration connect,
    Duration network,
    ReadConsistency readConsistency,
    String application,
    Credentials credentials,
    String timeZone) {
  public SessionSettings {
    requirePositive("session", session);
    requirePositive("lease", lease);
    requireNonNull(lockWait, "lockWait");
    requirePositive("failover", failover);
    requirePositive("connect", connect);
    requireNonNull(network, "network");
    requireNonNull(readConsistency, "readConsistency");
    requireNonNull(application, "application");
    requireNonNull(credentials, "credentials");
    requireNonNull(timeZone, "timeZone");
  }

  /** Settings for nodes that require no user, and a session in UTC. */
  public SessionSettings(
      Duration session,
      Duration lease,
      Duration lockWait,
      Duration failover,
      Duration connect,
      Duration network,
      ReadConsistency readConsistency,
      String application) {
    this(
        session,
        lease,
        lockWait,
        failover,
        connect,
        network,
        readConsistency,
        application,
        Credentials.NONE,
        Protocol.UTC);
  }

  /** The same settings for another user. */
  public SessionSettings as(Credentials other) {
    return new SessionSettings(
        session,
        lease,
        lockWait,
        failover,
        connect,
        network,
        readConsistency,
        application,
        other,
        timeZone);
  }

  private static void requirePositive(String name, Duration duration) {
    if (requireNonNull(duration, name).isNegative() || duration.isZero()) {
      throw new IllegalArgumentException(name + ": " + duration);
    }
  }
}
