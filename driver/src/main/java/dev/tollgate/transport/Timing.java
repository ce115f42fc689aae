package dev.tollgate.transport;

import java.time.Duration;

/**
 * The waits that no URL sets.
 *
 * @param pingAfter a node that owes a reply and is silent this long is pinged
 * @param deadAfter a node is treated as dead if it owes a reply and is silent this long, or takes
 *     no byte of a request for this long
 * @param tick longest time between two checks by the control thread
 * @param longestInterval heartbeats are at least this frequent, however long the leases are
 * @param cancelAgain after which a statement that goes on is canceled again
 * @param closeWait how long closing a session waits, first for the statement under way and then for
 *     the node
 * @param renewWait how long a statement waits for the heartbeat that renews its session's lease
 */
record Timing(
    Duration pingAfter,
    Duration deadAfter,
    Duration tick,
    Duration longestInterval,
    Duration cancelAgain,
    Duration closeWait,
    Duration renewWait) {
  static final Timing STANDARD =
      new Timing(
          Duration.ofSeconds(1),
          Duration.ofSeconds(3),
          Duration.ofSeconds(1),
          Duration.ofSeconds(20),
          Duration.ofSeconds(2),
          Duration.ofSeconds(2),
          Duration.ofSeconds(1));
}
