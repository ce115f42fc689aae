package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * What the clients of a node have under way.
 *
 * @param requests requests that came, in all
 * @param refusedRequests requests that were refused because the node or their connection had too
 *     many
 * @param requestBytes bytes of large requests without an answer
 * @param unreadBytes bytes of answers that clients have not read
 * @param waitingRequests requests that wait for a lock, a row or a transaction, of this node as
 *     leader
 * @param runningQueries queries that run
 * @param heldTransactions transactions that wait to begin until a snapshot has begun
 * @param queued work that waits for a thread, by its kind
 */
public record ClientFigures(
    long requests,
    long refusedRequests,
    long requestBytes,
    long unreadBytes,
    int waitingRequests,
    int runningQueries,
    int heldTransactions,
    Map<Workers.Kind, Integer> queued) {
  public ClientFigures {
    requireNonNull(queued, "queued");
    Map<Workers.Kind, Integer> copy = new EnumMap<>(Workers.Kind.class);
    copy.putAll(queued);
    queued = Collections.unmodifiableMap(copy);
  }
}
