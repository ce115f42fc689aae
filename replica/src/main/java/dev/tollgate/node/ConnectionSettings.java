package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.node.client.ConnectionLimits;
import java.time.Duration;

/**
 * What one connection or one user may take of a node.
 *
 * @param strangers connections that have not said hello; the newest replaces the oldest
 * @param silence how long a connection may take to say hello, and how long a request that has begun
 *     may bring nothing
 * @param perUser connections of one user; 0 for as many as the node accepts
 * @param statementsPerSecond statements of one connection in a second; 0 for any number
 * @param unreadBytes bytes of answers that one client may leave unread
 */
public record ConnectionSettings(
    int strangers, Duration silence, int perUser, int statementsPerSecond, long unreadBytes) {
  public ConnectionSettings {
    requireNonNull(silence, "silence");
  }

  ClientLimits limits() {
    return ClientLimits.STANDARD
        .withUnreadBytes(unreadBytes)
        .with(
            new ConnectionLimits(
                strangers,
                silence.toMillis(),
                perUser,
                statementsPerSecond,
                ConnectionLimits.STANDARD.queriesAtOnce()));
  }
}
