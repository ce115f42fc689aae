package dev.tollgate.transport;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds a node that accepts a session, or heartbeats: the leader, or any. Thread-safe. */
final class NodeFinder {
  /** Opens a channel to a node. */
  interface Dialer {
    FrameChannel dial(String address, Duration timeout) throws IOException;
  }

  /** The purpose of a connection, announced right after hello. */
  interface Purpose {
    /** Returns the node's reply; {@link Reply.NotLeader} makes the search go on. */
    Reply announce(NodeConnection node) throws IOException;
  }

  /** A node that accepted the purpose, and its reply. */
  record Found(NodeConnection node, Reply reply) {}

  private final ClusterMap map;
  private final LeaderNews news;
  private final Dials dials;
  private final Dialer dialer;
  private final Request.Hello hello;
  private final ClientLogin login;
  private final Duration connectTimeout;
  private final Timekeeping environment;

  NodeFinder(
      ClusterMap map,
      LeaderNews news,
      Dials dials,
      Dialer dialer,
      Request.Hello hello,
      ClientLogin login,
      Duration connectTimeout,
      Timekeeping environment) {
    this.map = map;
    this.news = news;
    this.dials = dials;
    this.dialer = dialer;
    this.hello = hello;
    this.login = login;
    this.connectTimeout = connectTimeout;
    this.environment = environment;
  }

  ClusterMap map() {
    return map;
  }

  LeaderNews news() {
    return news;
  }

  /**
   * Tries every known node, again and again, with growing pauses, which news of a leader end.
   *
   * @param leader true if only the leader will do
   * @throws UnreachableException if no node accepted the purpose before the budget ended; at once
   *     if every node is reachable and rejects this client, or if another cluster has replaced this
   *     one
   * @throws TransportException if a node rejected the purpose for good; also if a node rejected the
   *     user, and no other node of one pass took the purpose: a wrong password is not tried again
   */
  Found find(boolean leader, Purpose purpose, Budget budget)
      throws UnreachableException, TransportException {
    Round inTime = null;
    while (true) {
      long knownTerm = news.term();
      Round round = new Round(map.candidates(leader));
      for (String next = round.next(); next != null; next = round.next()) {
        Optional<Found> found = attempt(next, leader, purpose, budget, round);
        if (found.isPresent()) {
          return found.get();
        }
        if (budget.spent()) {
          break;
        }
      }
      round.requireLogin();
      if (round.refusal != null || inTime == null || !budget.spent()) {
        // what a node said says more than that the time ended before it said anything
        inTime = round;
      }
      boolean replaced = round.metAnotherCluster();
      if (replaced || round.refusedByAll() || !budget.pause(news, knownTerm)) {
        throw new UnreachableException(inTime.refusal, inTime.trouble, replaced);
      }
    }
  }

  /** Connects to one node, whatever its role and its cluster. */
  NodeConnection.Opened open(String address) throws IOException {
    return open(address, /* leader= */ false, () -> connectTimeout);
  }

  /** Connects to one node of this cluster, whatever its role. */
  NodeConnection openMember(String address) throws IOException {
    try {
      NodeConnection.Opened opened = open(address);
      requireSameCluster(address, opened);
      map.trust(address);
      map.learn(opened.welcome().cluster(), address);
      return opened.connection();
    } catch (NodeConnection.RefusedException | Dials.CrowdedException e) {
      throw e;
    } catch (IOException e) {
      map.doubt(address);
      throw e;
    }
  }

  /**
   * Connects and says hello.
   *
   * @param leader true to give up as soon as another node is known to lead; the caller then has
   *     {@link LeaderNews} forget the connection
   * @param patience the longest time for each step from now on
   */
  private NodeConnection.Opened open(String address, boolean leader, Supplier<Duration> patience)
      throws IOException {
    long knownTerm = news.term();
    dials.enter(address, patience.get());
    try {
      FrameChannel channel = dialer.dial(address, patience.get());
      NodeConnection node = new NodeConnection(address, channel, environment, knownTerm);
      boolean greeted = false;
      try {
        if (leader) {
          news.watch(node);
        }
        NodeConnection.Opened opened = node.greet(hello, login, patience.get());
        greeted = true;
        return opened;
      } finally {
        if (!greeted) {
          news.forget(node);
          node.close();
        }
      }
    } finally {
      dials.leave(address);
    }
  }

  private Optional<Found> attempt(
      String address, boolean leader, Purpose purpose, Budget budget, Round round)
      throws TransportException {
    try {
      NodeConnection.Opened opened = open(address, leader, () -> budget.within(connectTimeout));
      try {
        return meet(opened, leader, purpose, round);
      } finally {
        news.forget(opened.connection());
      }
    } catch (StrangerException e) {
      round.metStranger(e);
    } catch (NodeConnection.RefusedException e) {
      if (e.isTemporary()) {
        round.failed(address, e);
      } else {
        round.refused(e);
      }
    } catch (Dials.CrowdedException e) {
      round.failed(address, e);
    } catch (IOException e) {
      map.doubt(address);
      round.failed(address, e);
    }
    return Optional.empty();
  }

  private Optional<Found> meet(
      NodeConnection.Opened opened, boolean leader, Purpose purpose, Round round)
      throws IOException, TransportException {
    NodeConnection node = opened.connection();
    requireSameCluster(node.address(), opened);
    round.metMember();
    map.trust(node.address());
    map.learn(opened.welcome().cluster(), node.address());
    if (leader && round.turnTo(map.leaderBesides(node.address()))) {
      node.close();
      return Optional.empty();
    }
    if (leader && news.isSuperseded(node)) {
      // it may believe that it leads, and take a session that it cannot serve
      node.close();
      round.failed(node.address(), new IOException("another node leads in a later term"));
      return Optional.empty();
    }
    return announce(node, purpose, round);
  }

  /** Rejects other clusters: this process's sessions, leases and tokens mean nothing to them. */
  private void requireSameCluster(String address, NodeConnection.Opened opened)
      throws StrangerException {
    String other = opened.welcome().clusterId();
    if (!map.isOfCluster(other)) {
      opened.connection().close();
      throw new StrangerException(
          address,
          new Reply.Failure(
              SqlState.CONNECTION_REFUSED,
              "this is node "
                  + opened.welcome().nodeId()
                  + " of cluster "
                  + other
                  + ", but the connections of this process are to cluster "
                  + map.clusterId()
                  + ": check the addresses of the URL. If another cluster has replaced the former"
                  + " one, close all connections, and open new ones"));
    }
  }

  private Optional<Found> announce(NodeConnection node, Purpose purpose, Round round)
      throws IOException, TransportException {
    boolean kept = false;
    try {
      Reply reply = purpose.announce(node);
      if (reply instanceof Reply.Failure failure) {
        throw new TransportException(failure, null);
      }
      if (reply instanceof Reply.NotLeader elsewhere) {
        map.learn(elsewhere.cluster(), node.address());
        round.turnTo(map.leaderBesides(node.address()));
        round.failed(node.address(), new IOException("it does not lead"));
        return Optional.empty();
      }
      kept = true;
      return Optional.of(new Found(node, reply));
    } finally {
      if (!kept) {
        node.close();
      }
    }
  }

  /** One pass over all known nodes, each visited at most once. */
  private static final class Round {
    private final Deque<String> waiting;
    private final Set<String> visited = new HashSet<>();
    private final Set<String> failed = new HashSet<>();
    private final int known;
    private int strangers;
    private boolean metMember;
    private NodeConnection.@Nullable RefusedException refusal;
    private NodeConnection.@Nullable RefusedException loginRefusal;
    private @Nullable IOException trouble;

    Round(List<String> candidates) {
      waiting = new ArrayDeque<>(candidates);
      known = candidates.size();
    }

    @Nullable String next() {
      String next = waiting.poll();
      while (next != null && !visited.add(next)) {
        next = waiting.poll();
      }
      return next;
    }

    /** Visits this node next, unless it was visited already. */
    boolean turnTo(Optional<String> node) {
      if (node.isEmpty() || visited.contains(node.get())) {
        return false;
      }
      waiting.addFirst(node.get());
      return true;
    }

    void failed(String address, IOException reason) {
      failed.add(address);
      trouble = new IOException(address + ": " + reason.getMessage(), reason);
    }

    /** A node belongs to the cluster, or does not say to which one. */
    void metMember() {
      metMember = true;
    }

    void metStranger(StrangerException e) {
      strangers++;
      refused(e);
    }

    void refused(NodeConnection.RefusedException e) {
      refusal = e;
      if (e.failure().sqlState().equals(SqlState.LOGIN_REFUSED.state())) {
        loginRefusal = e;
      }
    }

    /** Fails if a node has rejected the user: each further attempt would count against the user. */
    void requireLogin() throws TransportException {
      NodeConnection.RefusedException refused = loginRefusal;
      if (refused != null) {
        throw new TransportException(refused.failure(), refused);
      }
    }

    /**
     * True if more than half of the nodes belong to another cluster, and none to this one: what is
     * left of this cluster can decide nothing. A few wrong addresses in a URL are not enough.
     */
    boolean metAnotherCluster() {
      return !metMember && 2 * strangers > Math.max(known, visited.size());
    }

    /** True if trying again is pointless: every node is reachable and rejects this client. */
    boolean refusedByAll() {
      return refusal != null && failed.isEmpty();
    }
  }

  /** A node belongs to another cluster. */
  private static final class StrangerException extends NodeConnection.RefusedException {
    private static final long serialVersionUID = 1L;

    StrangerException(String address, Reply.Failure failure) {
      super(address, failure);
    }
  }

  /** No node accepted the purpose. */
  static final class UnreachableException extends IOException {
    private static final long serialVersionUID = 1L;
    private final transient Reply.@Nullable Failure refusal;
    private final boolean replaced;

    UnreachableException(
        NodeConnection.@Nullable RefusedException refusal,
        @Nullable IOException trouble,
        boolean replaced) {
      super(message(refusal, trouble), refusal != null ? refusal : trouble);
      this.refusal = refusal == null ? null : refusal.failure();
      this.replaced = replaced;
    }

    private static String message(@Nullable IOException refusal, @Nullable IOException trouble) {
      IOException reason = refusal != null ? refusal : trouble;
      return reason == null ? "no time was left to try" : String.valueOf(reason.getMessage());
    }

    /** True if another cluster has the addresses of this one. */
    boolean isReplaced() {
      return replaced;
    }

    /** The failure from a reachable node that rejected this client. */
    Optional<Reply.Failure> refusal() {
      return Optional.ofNullable(refusal);
    }
  }
}
