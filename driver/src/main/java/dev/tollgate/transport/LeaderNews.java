package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What nodes have pushed about the leader, and the connections that end when another node leads. A
 * leader that falls silent does not say so itself, and its connections stay open. Thread-safe.
 *
 * <p>A node leads only in the term that it named in Welcome, or in a later one. So a connection is
 * superseded once another node leads in a later term. A connection to the present leader never is,
 * however late older news arrive: its node named a term that is not older than theirs. The
 * exception is a node that wins two elections while this process shakes hands with it. Then this
 * process connects once more.
 */
final class LeaderNews {
  /** The leader of a term. A term has at most one. */
  record Leader(long term, String nodeId, String address) {
    Leader {
      requireNonNull(nodeId, "nodeId");
      requireNonNull(address, "address");
    }
  }

  private final Set<NodeConnection> watched = ConcurrentHashMap.newKeySet();
  private volatile @Nullable Leader latest;

  /** The term of the latest leader that is known, or 0. */
  long term() {
    Leader known = latest;
    return known == null ? 0 : known.term();
  }

  /**
   * Waits until a leader of a later term than this is known, or so many nanoseconds; returns
   * whether one is.
   */
  synchronized boolean awaitLater(long knownTerm, long nanos) throws InterruptedException {
    long deadline = System.nanoTime() + nanos;
    long leftNanos = deadline - System.nanoTime();
    while (term() <= knownTerm && leftNanos > 0) {
      wait(leftNanos / 1_000_000 + 1);
      leftNanos = deadline - System.nanoTime();
    }
    return term() > knownTerm;
  }

  /** True if another node leads in a later term than that in which this one was met. */
  boolean isSuperseded(NodeConnection connection) {
    Leader known = latest;
    return known != null && connection.met().isBefore(known, connection.address());
  }

  /** True if the node is the latest leader that is known. */
  boolean isLeader(NodeConnection connection) {
    Leader known = latest;
    NodeConnection.Met met = connection.met();
    return known != null && known.nodeId().equals(met.nodeId()) && known.term() == met.term();
  }

  /**
   * Closes a connection as soon as it is superseded, until {@link #forget}. For a connection that
   * waits for the leader's answer.
   */
  void watch(NodeConnection connection) {
    watched.add(connection);
    if (isSuperseded(connection)) {
      connection.close();
    }
  }

  void forget(NodeConnection connection) {
    watched.remove(connection);
  }

  /**
   * Takes news, unless they are not later than what is known.
   *
   * @return how many connections were closed
   */
  synchronized int learn(Leader leader) {
    if (leader.term() <= term()) {
      return 0;
    }
    // before the connections are looked at: those that come later look at it
    latest = leader;
    notifyAll();
    int closed = 0;
    for (NodeConnection connection : watched) {
      if (isSuperseded(connection)) {
        connection.close();
        closed++;
      }
    }
    return closed;
  }
}
