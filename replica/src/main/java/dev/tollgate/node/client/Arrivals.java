package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import io.netty.channel.Channel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which connections have said who they are, and which still owe the node something. A connection
 * counts as a stranger until {@link #introduced}; strangers take no places of clients. All
 * deadlines are equally long, so one list in order of their beginning and one timer serve all
 * connections. Thread-safe.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a channel closes whether its future is heard or not
final class Arrivals {
  private static final Logger LOG = LoggerFactory.getLogger(Arrivals.class);

  /** Strangers for which there is room while the node has all the clients that it may have. */
  static final int LEAST_STRANGERS = 32;

  /** A flood of strangers makes one line in this time. */
  private static final long LOG_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final String nodeId;
  private final int maxClients;
  private final ConnectionLimits limits;
  private final Predicate<String> isAdministrator;
  private final LongSupplier nanoTime;

  /** The user of each client. */
  private final Map<Channel, String> clients = new HashMap<>();

  /** How many clients each user has. */
  private final Map<String, Integer> ofUsers = new HashMap<>();

  /** When each came, the oldest first. */
  private final Map<Channel, Long> strangers = new LinkedHashMap<>();

  /** The strangers by their addresses, the oldest first. */
  private final Map<String, Set<Channel>> ofAddresses = new LinkedHashMap<>();

  /** When the last bytes of each request that has begun came, the oldest first. */
  private final Map<Channel, Long> unfinished = new LinkedHashMap<>();

  private long pushedOut;
  private long late;
  private long stuck;
  private long closed;
  private long refused;
  private long loggedNanos;

  /**
   * @param maxClients clients that may be connected at a time, beside a few of administrators
   * @param isAdministrator of a user that has logged in
   */
  Arrivals(
      String nodeId,
      int maxClients,
      ConnectionLimits limits,
      Predicate<String> isAdministrator,
      LongSupplier nanoTime) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.maxClients = maxClients;
    this.limits = requireNonNull(limits, "limits");
    this.isAdministrator = requireNonNull(isAdministrator, "isAdministrator");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
    this.loggedNanos = nanoTime.getAsLong() - LOG_NANOS;
  }

  /**
   * Counts a connection of an unknown client. Without room for it, a stranger is closed: of the
   * address that has the most, the one that came first. An honest client says hello at once, so
   * those that have been silent for longest are the least likely to be honest.
   */
  void connected(Channel channel) {
    Channel oldest = null;
    synchronized (this) {
      if (strangers.size() >= roomForStrangers()) {
        oldest = oldestOfTheMost();
        forgetStranger(oldest);
        pushedOut++;
        closed++;
      }
      strangers.put(channel, nanoTime.getAsLong());
      ofAddresses
          .computeIfAbsent(ClientTls.addressOf(channel), any -> new LinkedHashSet<>())
          .add(channel);
    }
    if (oldest != null) {
      oldest.close();
    }
  }

  private Channel oldestOfTheMost() {
    Set<Channel> most = Set.of();
    for (Set<Channel> ofAddress : ofAddresses.values()) {
      most = ofAddress.size() > most.size() ? ofAddress : most;
    }
    return most.iterator().next();
  }

  /** Returns false if it was none. */
  private boolean forgetStranger(Channel channel) {
    if (strangers.remove(channel) == null) {
      return false;
    }
    forgetAddress(channel);
    return true;
  }

  private void forgetAddress(Channel channel) {
    ofAddresses.computeIfPresent(
        ClientTls.addressOf(channel),
        (address, all) -> {
          all.remove(channel);
          return all.isEmpty() ? null : all;
        });
  }

  private int roomForStrangers() {
    return Math.min(limits.strangers(), Math.max(LEAST_STRANGERS, maxClients - clients.size()));
  }

  /**
   * Counts a stranger as a client.
   *
   * @return why there is no room for the client, or null. The connection stays a stranger then
   */
  synchronized @Nullable String introduced(Channel channel, String user) {
    if (clients.containsKey(channel)) {
      return null;
    }
    String noRoom = noRoom(channel, user);
    if (noRoom == null) {
      clients.put(channel, user);
      ofUsers.merge(user, 1, Integer::sum);
    } else {
      refused++;
    }
    return noRoom;
  }

  private @Nullable String noRoom(Channel channel, String user) {
    if (clients.size() >= maxClients && !hasReservedPlace(user)) {
      return "the node has "
          + maxClients
          + " connections, as many as it may have: close those that are not needed, or raise"
          + " --max-connections";
    }
    if (limits.perUser() > 0 && ofUsers.getOrDefault(user, 0) >= limits.perUser()) {
      return "the user has "
          + limits.perUser()
          + " connections to the node, as many as one user may have: close those that are not"
          + " needed, or raise --max-connections-per-user";
    }
    if (!forgetStranger(channel)) {
      return "the node closes the connection, because it took too long to begin";
    }
    return null;
  }

  /** In a cluster without users everybody is an administrator, and none has a place reserved. */
  private boolean hasReservedPlace(String user) {
    return clients.size() < maxClients + Limits.ADMINISTRATOR_CONNECTIONS
        && !user.isEmpty()
        && isAdministrator.test(user);
  }

  /** How many connections there are, and what became of others. */
  synchronized ArrivalFigures figures() {
    return new ArrivalFigures(clients.size(), strangers.size(), refused, closed);
  }

  /** A request of a client has begun, or goes on, and is not complete. */
  synchronized void requestGoesOn(Channel channel) {
    if (clients.containsKey(channel)) {
      unfinished.remove(channel);
      unfinished.put(channel, nanoTime.getAsLong());
    }
  }

  /** A request of a client is complete. */
  synchronized void requestIsComplete(Channel channel) {
    unfinished.remove(channel);
  }

  /** A connection has ended. */
  synchronized void disconnected(Channel channel) {
    String user = clients.remove(channel);
    if (user != null) {
      ofUsers.computeIfPresent(user, (name, count) -> count == 1 ? null : count - 1);
    }
    forgetStranger(channel);
    unfinished.remove(channel);
  }

  /** Closes the connections whose time is over. Whoever made this object calls it now and then. */
  void closeOverdue() {
    List<Channel> overdue = new ArrayList<>();
    String line;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      late += takeOverdue(strangers, now, overdue);
      overdue.forEach(this::forgetAddress);
      stuck += takeOverdue(unfinished, now, overdue);
      line = line(now);
    }
    overdue.forEach(Channel::close);
    if (line != null) {
      LOG.warn("{}: {}", nodeId, line);
    }
  }

  private int takeOverdue(Map<Channel, Long> since, long now, List<Channel> overdue) {
    int before = overdue.size();
    Iterator<Map.Entry<Channel, Long>> oldestFirst = since.entrySet().iterator();
    while (oldestFirst.hasNext()) {
      Map.Entry<Channel, Long> next = oldestFirst.next();
      if (now - next.getValue() < TimeUnit.MILLISECONDS.toNanos(limits.silenceMillis())) {
        break;
      }
      overdue.add(next.getKey());
      oldestFirst.remove();
    }
    closed += overdue.size() - before;
    return overdue.size() - before;
  }

  private @Nullable String line(long now) {
    if (pushedOut + late + stuck == 0 || now - loggedNanos < LOG_NANOS) {
      return null;
    }
    String line =
        "closed "
            + late
            + " connections that had not said hello within "
            + limits.silenceMillis()
            + " ms, "
            + pushedOut
            + " to make room for newer ones, and "
            + stuck
            + " that stopped within a request; "
            + strangers.size()
            + " have not said hello yet";
    pushedOut = 0;
    late = 0;
    stuck = 0;
    loggedNanos = now;
    return line;
  }
}
