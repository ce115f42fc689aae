package dev.tollgate.log.peer;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The connections that have not said who they are, oldest first. A node may always say who it is,
 * however many others do not: if there are too many, the oldest one of the address that has the
 * most has to go. Its owner has a lock for all calls.
 *
 * @param <C> the connections
 */
final class NewPeers<C> {
  /** When a connection has said who it is, or has ended. */
  private record Arrival(InetAddress from, CompletableFuture<Void> said) {}

  private final int most;
  private final Map<C, Arrival> arrivals = new LinkedHashMap<>();

  /**
   * @param most how many there may be
   */
  NewPeers(int most) {
    this.most = most;
  }

  /**
   * Adds a connection.
   *
   * @return the connection that has to be closed for it, or null
   */
  @Nullable C add(C connection, InetAddress from, CompletableFuture<Void> said) {
    C dropped = arrivals.size() < most ? null : removeOldestOf(mostFrequent());
    arrivals.put(connection, new Arrival(from, said));
    return dropped;
  }

  private InetAddress mostFrequent() {
    Map<InetAddress, Integer> counts = new HashMap<>();
    arrivals.values().forEach(arrival -> counts.merge(arrival.from(), 1, Integer::sum));
    InetAddress found = null;
    int highest = 0;
    for (Arrival arrival : arrivals.values()) {
      int count = counts.getOrDefault(arrival.from(), 0);
      if (count > highest) {
        found = arrival.from();
        highest = count;
      }
    }
    if (found == null) {
      throw new IllegalStateException("at most " + most + " connections");
    }
    return found;
  }

  private C removeOldestOf(InetAddress address) {
    for (Iterator<Map.Entry<C, Arrival>> each = arrivals.entrySet().iterator(); each.hasNext(); ) {
      Map.Entry<C, Arrival> entry = each.next();
      if (entry.getValue().from().equals(address)) {
        each.remove();
        entry.getValue().said().complete(null);
        return entry.getKey();
      }
    }
    throw new IllegalStateException("no connection of " + address);
  }

  /** Removes a connection that has said who it is, or has ended. */
  void remove(C connection) {
    Arrival arrival = arrivals.remove(connection);
    if (arrival != null) {
      arrival.said().complete(null);
    }
  }

  /** The connections of now. */
  Iterable<C> all() {
    return arrivals.keySet();
  }
}
