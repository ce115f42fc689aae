package dev.tollgate.transport;

import dev.tollgate.wire.SqlState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The clusters with which this process has sessions. Thread-safe.
 *
 * <p>The shared registry is the only static state in the driver. It has to be static, because JDBC
 * hands out connections through static methods. All sessions that a process has as one user with a
 * cluster share one control connection and, if the URL says so, one node in this JVM. An entry
 * lasts as long as it has a session; the entry of a named in-memory node lasts as long as the JVM.
 */
public final class ClusterRegistry {
  private static final ClusterRegistry SHARED =
      new ClusterRegistry(Timekeeping.STANDARD, Cluster::installedProviders);

  private final Timekeeping environment;
  private final Supplier<Iterable<EmbeddedNodeProvider>> providers;
  private final SaltedPasswords passwords = new SaltedPasswords();
  private final Map<Key, Cluster> clusters = new ConcurrentHashMap<>();

  /**
   * Connections of two users share no control connection: the user of a connection renews and
   * cancels. A node in this JVM asks nobody for a password, so all users share the node.
   */
  private record Key(ClusterTarget target, Credentials credentials) {
    static Key of(ClusterTarget target, SessionSettings settings) {
      return new Key(
          target,
          target instanceof ClusterTarget.Remote ? settings.credentials() : Credentials.NONE);
    }
  }

  ClusterRegistry(Timekeeping environment, Supplier<Iterable<EmbeddedNodeProvider>> providers) {
    this.environment = environment;
    this.providers = providers;
  }

  /** The registry of this process. */
  public static ClusterRegistry shared() {
    return SHARED;
  }

  /**
   * Opens a session.
   *
   * @param limit longest time in all, zero for as long as any request
   * @throws TransportException if no node was reachable in time, or the cluster rejected the
   *     session
   */
  public ClusterSession open(ClusterTarget target, SessionSettings settings, Duration limit)
      throws TransportException {
    Cluster cluster = enter(target, settings);
    Runnable leave = () -> leave(cluster);
    boolean opened = false;
    try {
      ClusterSession session = ClusterSession.open(cluster, settings, limit, leave);
      opened = true;
      return session;
    } finally {
      if (!opened) {
        leave.run();
      }
    }
  }

  /**
   * Has a node take a snapshot.
   *
   * @param leaderOnly true for a snapshot by the leader, which covers all that was committed before
   * @throws TransportException if no node was reachable in time, or the node has no snapshot to
   *     give
   */
  public SnapshotDownload openSnapshot(
      ClusterTarget target, SessionSettings settings, boolean leaderOnly)
      throws TransportException {
    Cluster cluster = enter(target, settings);
    Runnable leave = () -> leave(cluster);
    boolean opened = false;
    try {
      SnapshotDownload download = SnapshotDownload.open(cluster, settings, leaderOnly, leave);
      opened = true;
      return download;
    } finally {
      if (!opened) {
        leave.run();
      }
    }
  }

  /**
   * Asks every node that can be found what it knows about itself and the others.
   *
   * @throws TransportException if a node in this JVM does not start
   */
  public List<NodeSurvey.Answer> survey(ClusterTarget target, SessionSettings settings)
      throws TransportException {
    Cluster cluster = enter(target, settings);
    try {
      return NodeSurvey.of(cluster.finder(settings));
    } finally {
      leave(cluster);
    }
  }

  private Cluster enter(ClusterTarget target, SessionSettings settings) throws TransportException {
    boolean shared = !(target instanceof ClusterTarget.InMemory memory && memory.isPrivate());
    Key key = Key.of(target, settings);
    requireSameKeys(target);
    while (true) {
      Cluster cluster =
          shared ? clusters.computeIfAbsent(key, any -> create(target)) : create(target);
      try {
        if (cluster.enter()) {
          return cluster;
        }
      } catch (TransportException e) {
        clusters.remove(key, cluster);
        throw e;
      }
      // the last session of this cluster has just closed
      clusters.remove(key, cluster);
    }
  }

  /** The node of a directory has one file of data keys, which every connection has to name. */
  private void requireSameKeys(ClusterTarget target) throws TransportException {
    for (Key open : clusters.keySet()) {
      if (target instanceof ClusterTarget.Embedded wanted
          && open.target() instanceof ClusterTarget.Embedded running
          && running.directory().equals(wanted.directory())
          && !running.equals(wanted)) {
        throw new TransportException(
            SqlState.NO_QUORUM,
            target
                + " is open in this JVM with "
                + (running.dataKeyFile() == null
                    ? "no dataKeyFile"
                    : "dataKeyFile=" + running.dataKeyFile())
                + ": give all connections the same one",
            null);
      }
    }
  }

  private Cluster create(ClusterTarget target) {
    return new Cluster(target, environment, providers, passwords);
  }

  private void leave(Cluster cluster) {
    if (cluster.leave()) {
      clusters.values().remove(cluster);
    }
  }

  /** The number of clusters with sessions, or with a node in this JVM. */
  int size() {
    return clusters.size();
  }
}
