package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import java.net.InetAddress;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A bounded number of places for connections, which no address keeps from the others by its number
 * of connections. If all places are taken, a new connection gets the place of another one: of the
 * network that has the most, of its address that has the most, the oldest that may go. An IPv6
 * network is a /64, and an IPv4 address is a network of its own. Not thread-safe.
 *
 * @param <C> the connections
 */
public final class FairPlaces<C> {
  private final int most;
  private final Predicate<C> mayGo;

  /** Who has a place, and where it comes from, the oldest first. */
  private final Map<C, InetAddress> taken = new LinkedHashMap<>();

  /**
   * @param most how many places there are
   * @param mayGo whether a connection that has a place may be closed for another one
   */
  public FairPlaces(int most, Predicate<C> mayGo) {
    this.most = most;
    this.mayGo = requireNonNull(mayGo, "mayGo");
  }

  /**
   * Gives a place to a connection.
   *
   * @return the connection that has to be closed, which has no place: another one, or the new one
   *     if none may go; null if there was room
   */
  public @Nullable C take(C connection, InetAddress from) {
    C loser = null;
    if (taken.size() >= most) {
      loser = loser();
      if (loser == null) {
        return connection;
      }
      taken.remove(loser);
    }
    taken.put(connection, from);
    return loser;
  }

  private @Nullable C loser() {
    Map<String, Integer> networks = new HashMap<>();
    Map<InetAddress, Integer> addresses = new HashMap<>();
    for (InetAddress from : taken.values()) {
      networks.merge(CountedAddress.of(from), 1, Integer::sum);
      addresses.merge(from, 1, Integer::sum);
    }
    C found = null;
    long highest = 0;
    for (Map.Entry<C, InetAddress> entry : taken.entrySet()) {
      InetAddress from = entry.getValue();
      long ofNetwork = networks.getOrDefault(CountedAddress.of(from), 0);
      long count = ofNetwork * (most + 1L) + addresses.getOrDefault(from, 0);
      if (count > highest && mayGo.test(entry.getKey())) {
        found = entry.getKey();
        highest = count;
      }
    }
    return found;
  }

  /** Takes the place of a connection back, if it has one. */
  public void giveBack(C connection) {
    taken.remove(connection);
  }

  /** The connections that have places now; a view. */
  public Set<C> all() {
    return Collections.unmodifiableSet(taken.keySet());
  }
}
