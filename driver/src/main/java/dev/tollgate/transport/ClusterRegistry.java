package dev.tollgate.transport;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The clusters that this process has sessions with. Thread-safe.
 *
 * <p>The shared registry is the one piece of static state in the driver. It has to be: JDBC hands
 * out connections through static methods, and all sessions of a process with a cluster share one
 * control connection and, if the URL says so, one node in this JVM. An entry lasts as long as it
 * has a session; entries of named in-memory nodes last as long as the JVM.
 */
public final class ClusterRegistry {
  private static final ClusterRegistry SHARED =
      new ClusterRegistry(Timekeeping.STANDARD, Cluster::installedProviders);

  private final Timekeeping environment;
  private final Supplier<Iterable<EmbeddedNodeProvider>> providers;
  private final Map<ClusterTarget, Cluster> clusters = new ConcurrentHashMap<>();

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
   * @param limit how long that may take in all, zero for as long as any request
   * @throws TransportException if no node was reachable in time, or the cluster refused
   */
  public ClusterSession open(ClusterTarget target, SessionSettings settings, Duration limit)
      throws TransportException {
    Cluster cluster = enter(target);
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
   * @param leaderOnly true for one that covers all that was committed before
   * @throws TransportException if no node was reachable in time, or the node has none to give
   */
  public SnapshotDownload openSnapshot(
      ClusterTarget target, SessionSettings settings, boolean leaderOnly)
      throws TransportException {
    Cluster cluster = enter(target);
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
   * Asks every node that can be found what it knows of itself and the others.
   *
   * @throws TransportException if a node in this JVM does not start
   */
  public List<NodeSurvey.Answer> survey(ClusterTarget target, SessionSettings settings)
      throws TransportException {
    Cluster cluster = enter(target);
    try {
      return NodeSurvey.of(cluster.finder(settings));
    } finally {
      leave(cluster);
    }
  }

  private Cluster enter(ClusterTarget target) throws TransportException {
    boolean shared = !(target instanceof ClusterTarget.InMemory memory && memory.isPrivate());
    while (true) {
      Cluster cluster = shared ? clusters.computeIfAbsent(target, this::create) : create(target);
      try {
        if (cluster.enter()) {
          return cluster;
        }
      } catch (TransportException e) {
        clusters.remove(target, cluster);
        throw e;
      }
      // its last session has just closed
      clusters.remove(target, cluster);
    }
  }

  private Cluster create(ClusterTarget target) {
    return new Cluster(target, environment, providers);
  }

  private void leave(Cluster cluster) {
    if (cluster.leave()) {
      clusters.remove(cluster.target(), cluster);
    }
  }

  /** How many clusters there are sessions with, or nodes of in this JVM. */
  int size() {
    return clusters.size();
  }
}
