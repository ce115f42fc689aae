package dev.tollgate.transport;

import dev.tollgate.tls.TlsException;
import dev.tollgate.tls.TlsSettings;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.time.Duration;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state that all sessions of this process with one cluster share, if they have one user. Holds
 * the map of its nodes, the control connection and the watch of the leader while there are
 * sessions, and the node itself if it runs in this JVM. Thread-safe.
 */
final class Cluster {
  private final ClusterTarget target;
  private final Timekeeping environment;
  private final Supplier<Iterable<EmbeddedNodeProvider>> providers;
  private final SaltedPasswords passwords;
  private final SendWatch watch = new SendWatch();
  private final Moves moves = new Moves();
  private final ClusterMap map;
  private final LeaderNews news = new LeaderNews();
  private final Dials dials = new Dials();
  private final Dials linkDials = new Dials();
  private final ClusterTls tls;
  private final AbandonedSessions abandoned;
  private int users;
  private boolean closed;
  private @Nullable EmbeddedNode embedded;
  private @Nullable ControlLink control;
  private @Nullable WatchLink leaderWatch;

  Cluster(
      ClusterTarget target,
      Timekeeping environment,
      Supplier<Iterable<EmbeddedNodeProvider>> providers,
      SaltedPasswords passwords) {
    this.target = target;
    this.environment = environment;
    this.providers = providers;
    this.passwords = passwords;
    this.tls =
        new ClusterTls(
            target instanceof ClusterTarget.Remote remote ? remote.tls() : TlsSettings.OFF);
    this.map =
        target instanceof ClusterTarget.Remote remote
            ? ClusterMap.ofSeeds(remote.seeds())
            : ClusterMap.ofOne(target.toString());
    this.abandoned =
        new AbandonedSessions(
            target.toString(),
            environment,
            () -> !(target instanceof ClusterTarget.Remote) && node() == null);
  }

  /** The providers on the class path of the application, or else on that of the driver. */
  static Iterable<EmbeddedNodeProvider> installedProviders() {
    ClassLoader application = Thread.currentThread().getContextClassLoader();
    ServiceLoader<EmbeddedNodeProvider> found =
        ServiceLoader.load(EmbeddedNodeProvider.class, application);
    return found.findFirst().isPresent()
        ? found
        : ServiceLoader.load(EmbeddedNodeProvider.class, Cluster.class.getClassLoader());
  }

  ClusterTarget target() {
    return target;
  }

  Timekeeping environment() {
    return environment;
  }

  /**
   * Counts one more user; starts the node if it is to run in this JVM.
   *
   * @return false if the last user has left and the cluster is closed: create another
   */
  synchronized boolean enter() throws TransportException {
    if (closed) {
      return false;
    }
    if (embedded == null && !(target instanceof ClusterTarget.Remote)) {
      try {
        embedded = startNode();
      } catch (TransportException e) {
        closed = true;
        throw e;
      }
    }
    users++;
    return true;
  }

  private EmbeddedNode startNode() throws TransportException {
    var provider = providers.get().iterator();
    if (!provider.hasNext()) {
      throw new TransportException(
          SqlState.NO_QUORUM,
          target
              + " is a node in this JVM, and no node is on the class path: add the artifact"
              + " dev.tollgate:tollgate-embedded in the version of this driver, or connect to a"
              + " cluster with jdbc:tollgate://host:port/",
          null);
    }
    try {
      return target instanceof ClusterTarget.Embedded durable
          ? provider.next().open(durable.directory(), durable.dataKeyFile())
          : provider.next().openInMemory(((ClusterTarget.InMemory) target).name());
    } catch (IOException e) {
      throw new TransportException(
          SqlState.NO_QUORUM, target + " did not start: " + e.getMessage(), e);
    }
  }

  /**
   * Counts one user less. After the last user has left, only a named in-memory node still runs.
   *
   * @return true if the cluster is closed now
   */
  synchronized boolean leave() {
    users--;
    if (users > 0 || closed) {
      return false;
    }
    if (control != null) {
      control.close();
      control = null;
    }
    if (leaderWatch != null) {
      leaderWatch.close();
      leaderWatch = null;
    }
    if (target instanceof ClusterTarget.InMemory memory && !memory.isPrivate()) {
      return false;
    }
    if (embedded != null) {
      embedded.close();
      embedded = null;
    }
    closed = true;
    return true;
  }

  /** A finder of nodes for one session, or for the control connection. */
  NodeFinder finder(SessionSettings settings) {
    return finder(settings, dials);
  }

  /**
   * For the connections that the process has besides its sessions. They wait in no line with the
   * sessions: leases, and transactions that are idle, depend on them.
   */
  private NodeFinder linkFinder(SessionSettings settings) {
    return finder(settings, linkDials);
  }

  private NodeFinder finder(SessionSettings settings, Dials places) {
    Request.Hello hello =
        new Request.Hello(
            1,
            Protocol.VERSION,
            settings.application(),
            ThisProcess.host(),
            ThisProcess.description());
    NodeFinder.Dialer dialer =
        (address, timeout) -> {
          EmbeddedNode node = node();
          return node != null ? node.connect() : dial(address, timeout);
        };
    ClientLogin login = new ClientLogin(settings.credentials(), passwords);
    return new NodeFinder(map, news, places, dialer, hello, login, settings.connect(), environment);
  }

  private FrameChannel dial(String address, Duration timeout) throws IOException {
    try {
      return SocketFrameChannel.connect(addressOf(address), tls, timeout, watch, environment);
    } catch (TlsException e) {
      // a node that does not fit is like one that rejects this client: waiting does not help
      throw new NodeConnection.RefusedException(
          address, new Reply.Failure(SqlState.CONNECTION_REFUSED, String.valueOf(e.getMessage())));
    }
  }

  private static NodeAddress addressOf(String address) throws IOException {
    try {
      return NodeAddress.parse(address);
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** The record in which sessions note their moves. */
  Moves moves() {
    return moves;
  }

  private synchronized @Nullable EmbeddedNode node() {
    return embedded;
  }

  /**
   * Keeps a session or a lease alive with heartbeats.
   *
   * @param settings of the session to which the renewal belongs
   * @param onDropped leaves the cluster; called for each member that is dropped without {@link
   *     #forget}. The control connection calls the one that its first member passed
   */
  synchronized void keepAlive(Renewal renewal, SessionSettings settings, Runnable onDropped) {
    if (control == null) {
      control =
          new ControlLink(
              target.toString(), linkFinder(settings), watch, moves, environment, onDropped);
      control.add(renewal);
      control.start();
      if (target instanceof ClusterTarget.Remote) {
        leaderWatch = new WatchLink(target.toString(), linkFinder(settings), environment);
        leaderWatch.start();
      }
    } else {
      control.add(renewal);
    }
  }

  /** Tells who holds a lock, for a user that has a session or a lease. */
  void watchHolder(HolderWatch watched) {
    ControlLink current = control();
    if (current != null) {
      current.add(watched);
    }
  }

  /** Ends {@link #watchHolder}. */
  void forget(HolderWatch watched) {
    ControlLink current = control();
    if (current != null) {
      current.remove(watched);
    }
  }

  /**
   * Tells whether a lease that is kept alive loses a lock.
   *
   * @param requestedNanos a moment before the lock was requested
   */
  void watchLock(WatchedLocks lease, LockWatch watch, long requestedNanos) {
    ControlLink current = control();
    if (current != null) {
      current.add(lease, watch, requestedNanos);
    }
  }

  /** Ends {@link #watchLock}. */
  void forget(LockWatch watch) {
    watch.locks().forget(watch);
    ControlLink current = control();
    if (current != null) {
      current.remove(watch);
    }
  }

  /** Ends {@link #watchLock} for all locks of a lease. */
  void forget(WatchedLocks lease) {
    ControlLink current = control();
    if (current != null) {
      current.remove(lease);
    }
  }

  /** Ends {@link #keepAlive}. */
  void forget(Renewal renewal) {
    renewal.retire();
    stopHeartbeats(renewal);
  }

  /** Ends the heartbeats; what they have proven stays proven. */
  void stopHeartbeats(Renewal renewal) {
    ControlLink current = control();
    if (current != null) {
      current.remove(renewal);
    }
  }

  void renewNow(Renewal renewal) {
    ControlLink current = control();
    if (current != null) {
      current.renewNow(renewal, environment.timing().renewWait());
    }
  }

  /** Has another thread close a session at the cluster; also after the last user has left. */
  void closeLater(SessionSettings settings, Request.AttachSession attach) {
    abandoned.add(finder(settings), attach, settings.failover());
  }

  void cancel(Request.Cancel cancel) {
    ControlLink current = control();
    if (current != null) {
      current.cancel(cancel);
    }
  }

  private synchronized @Nullable ControlLink control() {
    return control;
  }
}
