package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.HolderWatch;
import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.SqlState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Takes locks of a cluster for a process. Closing the client ends its leases and releases its locks.
 *
 * <p>A lock that is held occupies no connection and no thread. A request that waits occupies one
 * connection and one thread for as long as it waits. All leases of the process are renewed by the
 * same heartbeats, whichever client has them.
 *
 * <p>A lock that is not closed is held until the client is closed or the process ends.
 */
public final class LockClient implements AutoCloseable {
  /** How long a lock outlives this process if its options do not say. */
  public static final Duration DEFAULT_TTL = Duration.ofSeconds(15);

  /** The longest wait that the cluster takes; a longer one is asked for again. */
  private static final Duration LONGEST_REQUEST = Duration.ofHours(1);

  private static final Pattern PRIVATE_NODE = Pattern.compile("jdbc:tollgate:mem:(\\?.*)?");

  private final Connections connections;
  private final LockCalls calls;
  private final ClientThreads threads = new ClientThreads();
  private final Set<Lease> leases = ConcurrentHashMap.newKeySet();
  private final Set<LeaderElection> elections = ConcurrentHashMap.newKeySet();
  private final Set<HolderWatch> watches = ConcurrentHashMap.newKeySet();
  private final ThreadHolds threadHolds = new ThreadHolds();
  private final AtomicBoolean closed = new AtomicBoolean();

  private LockClient(Connections connections) {
    this.connections = requireNonNull(connections, "connections");
    this.calls = new LockCalls(connections);
  }

  /** A client with connections of its own. */
  public static LockClient connect(String url) {
    return connect(url, new Properties());
  }

  /**
   * A client with connections of its own, which are opened when they are needed: {@link
   * LockLimits#SHORT_REQUESTS}, and one for each request that waits.
   *
   * @param url as for the driver, from {@code jdbc:tollgate:} on
   * @param properties as for the driver
   * @throws IllegalArgumentException if the URL is not one of Tollgate
   */
  public static LockClient connect(String url, Properties properties) {
    TollgateDriver driver = new TollgateDriver();
    Properties copy = new Properties();
    copy.putAll(properties);
    if (!url.startsWith("jdbc:tollgate:")) {
      throw new IllegalArgumentException("'" + url + "' is no URL of jdbc:tollgate:");
    }
    if (PRIVATE_NODE.matcher(url).matches()) {
      throw new IllegalArgumentException(
          "with '"
              + url
              + "' each connection has a node of its own: name the node, as in mem:test");
    }
    return new LockClient(
        new OwnConnections(() -> requireNonNull(driver.connect(url, copy), "connection")));
  }

  /**
   * A client with connections of a pool. The client takes a connection for each request and gives
   * it back with the answer; a request that waits for a lock has its connection until then. Keep
   * connections spare: a release waits for a connection like other work.
   *
   * @param dataSource of Tollgate
   */
  public static LockClient of(DataSource dataSource) {
    return new LockClient(new PooledConnections(dataSource));
  }

  /** Asks for a lock without waiting; empty if another lease has it. */
  public Optional<HeldLock> tryAcquire(String name) {
    LockOptions options = LockOptions.DEFAULT;
    List<String> names = LockNames.checked(List.of(name), options);
    Lease lease = newLease(options);
    boolean granted = false;
    try {
      Optional<HeldLock> lock =
          lease.acquireNow(names, options, /* ownedByLocks= */ true).map(all -> all.locks().get(0));
      granted = lock.isPresent();
      if (!granted) {
        lease.close();
      }
      return lock;
    } finally {
      if (!granted) {
        lease.discard();
      }
    }
  }

  /**
   * Waits in line for a lock.
   *
   * @param wait how long at most
   * @return empty if others had the lock for all that time
   * @throws InterruptedException if the thread was interrupted; then the lock is not held
   */
  public Optional<HeldLock> tryAcquire(String name, Duration wait) throws InterruptedException {
    return tryAcquire(name, LockOptions.DEFAULT.waitFor(wait));
  }

  /** As {@link #tryAcquire(String, Duration)}, with all options. */
  public Optional<HeldLock> tryAcquire(String name, LockOptions options)
      throws InterruptedException {
    return tryAcquireAll(List.of(name), options).map(all -> all.locks().get(0));
  }

  /**
   * Waits in line for a lock, for as long as it takes. After each hour the request stands at the
   * end of the queue again.
   *
   * @throws LockException if the cluster does not answer, or refuses the request
   * @throws InterruptedException if the thread was interrupted; then the lock is not held
   */
  public HeldLock acquire(String name) throws InterruptedException {
    return acquire(name, LockOptions.DEFAULT);
  }

  /**
   * As {@link #acquire(String)}.
   *
   * @param options whose wait does not apply
   */
  public HeldLock acquire(String name, LockOptions options) throws InterruptedException {
    return acquire(name, options, Duration.ZERO);
  }

  /**
   * @param margin as of the lease
   */
  HeldLock acquire(String name, LockOptions options, Duration margin) throws InterruptedException {
    while (true) {
      Optional<HeldLocks> granted =
          request(List.of(name), options.waitFor(LONGEST_REQUEST), margin);
      if (granted.isPresent()) {
        return granted.get().locks().get(0);
      }
    }
  }

  /**
   * Waits for several locks, of which all are granted at the same moment or none.
   *
   * @param names at most {@link LockLimits#NAMES_AT_ONCE}, each once
   * @return empty if not all were free for all of the wait
   * @throws InterruptedException if the thread was interrupted; then none is held
   */
  public Optional<HeldLocks> tryAcquireAll(List<String> names, LockOptions options)
      throws InterruptedException {
    return request(names, options, Duration.ZERO);
  }

  /** A lease that is lost while it waits is replaced: the request begins anew with another. */
  private Optional<HeldLocks> request(List<String> names, LockOptions options, Duration margin)
      throws InterruptedException {
    List<String> checked = LockNames.checked(names, options);
    Thread caller = Thread.currentThread();
    long end = System.nanoTime() + options.waitTime().toNanos();
    while (true) {
      Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
      Lease lease =
          newLease(options.ttl().orElse(DEFAULT_TTL), options.owner().orElse(null), margin);
      Optional<HeldLocks> granted = Optional.empty();
      try {
        granted =
            lease.acquire(
                checked,
                options,
                /* ownedByLocks= */ true,
                left.compareTo(LONGEST_REQUEST) < 0 ? left : LONGEST_REQUEST);
        if (granted.isPresent() && options.interruptsOnLoss()) {
          lease.whenLost(caller::interrupt);
        }
        if (granted.isPresent()) {
          return granted;
        }
        lease.close();
        if (end - System.nanoTime() <= 0) {
          return Optional.empty();
        }
      } catch (LockLostException e) {
        if (end - System.nanoTime() <= 0) {
          return Optional.empty();
        }
      } finally {
        if (granted.isEmpty()) {
          lease.discard();
        }
      }
    }
  }

  /** Creates a lease under which several locks may be held. */
  public Lease newLease(Duration ttl) {
    return newLease(LockOptions.requireTtl(ttl), null, Duration.ZERO);
  }

  /**
   * Creates a lease under which several locks may be held.
   *
   * @param ttl how long the locks outlive this process, from 100 ms to 24 h
   * @param owner for operators, at most 255 characters
   */
  public Lease newLease(Duration ttl, String owner) {
    return newLease(LockOptions.requireTtl(ttl), requireNonNull(owner, "owner"), Duration.ZERO);
  }

  private Lease newLease(LockOptions options) {
    return newLease(options.ttl().orElse(DEFAULT_TTL), options.owner().orElse(null), Duration.ZERO);
  }

  private Lease newLease(Duration ttl, @Nullable String owner, Duration margin) {
    requireOpen();
    if (leases.size() >= LockLimits.LEASES) {
      throw new LockException(
          SqlState.TOO_MANY.state(),
          "this client has "
              + LockLimits.LEASES
              + " leases (LockLimits.LEASES): close the locks that are not needed");
    }
    try {
      Lease lease = calls.call(connection -> create(connection, ttl, owner, margin));
      leases.add(lease);
      if (closed.get()) {
        lease.close();
        requireOpen();
      }
      return lease;
    } catch (SQLException e) {
      throw LockException.of("no lease was created", e);
    }
  }

  private Lease create(Connection connection, Duration ttl, @Nullable String owner, Duration margin)
      throws SQLException {
    if (!connection.isWrapperFor(ClusterSession.class)) {
      throw new IllegalArgumentException(
          "the data source is not one of Tollgate: " + connection.getMetaData().getURL());
    }
    ClusterSession session = connection.unwrap(ClusterSession.class);
    long sentNanos = System.nanoTime();
    long id =
        (owner == null
                ? LockCalls.number(connection, "SELECT create_lease(?)", ttl.toMillis())
                : LockCalls.number(connection, "SELECT create_lease(?, ?)", ttl.toMillis(), owner))
            .orElseThrow();
    Lease lease = new Lease(this, id, ttl, margin, owner == null ? "" : owner);
    try {
      Duration age = Duration.ofNanos(System.nanoTime() - sentNanos);
      lease.keptBy(session.keepAlive(id, ttl, age, () -> lease.lose("the cluster has ended it")));
    } catch (TransportException e) {
      throw new SQLException(e.getMessage(), e.failure().sqlState(), e);
    }
    return lease;
  }

  /**
   * A lock as the JDK knows locks: it belongs to a thread and is re-entrant. Asking for it sends
   * nothing.
   */
  public FencedLock asLock(String name) {
    return new ThreadLock(this, threadHolds, checked(name), /* shared= */ false);
  }

  /** As {@link #asLock}, with a shared view for readers. */
  public FencedReadWriteLock asReadWriteLock(String name) {
    FencedLock read = new ThreadLock(this, threadHolds, checked(name), /* shared= */ true);
    FencedLock write = asLock(name);
    return new FencedReadWriteLock() {
      @Override
      public FencedLock readLock() {
        return read;
      }

      @Override
      public FencedLock writeLock() {
        return write;
      }
    };
  }

  private static String checked(String name) {
    return LockNames.checked(List.of(name), LockOptions.DEFAULT).get(0);
  }

  /**
   * Stands in an election with a lease of {@link #DEFAULT_TTL}.
   *
   * @param name of the election, and of the lock that its leader holds
   * @param candidate shown as owner of the lease; at most 255 characters
   */
  public LeaderElection elect(String name, String candidate, Candidate work) {
    return elect(name, candidate, DEFAULT_TTL, work);
  }

  /**
   * Stands in an election, on a thread of its own, until the election is closed.
   *
   * @param ttl how long it takes at most until another candidate leads after this process dies; a
   *     leader that the cluster does not hear of stops after three quarters of it
   */
  public LeaderElection elect(String name, String candidate, Duration ttl, Candidate work) {
    requireOpen();
    LeaderElection election = new LeaderElection(this, checked(name), candidate, ttl, work);
    elections.add(election);
    election.start();
    return election;
  }

  /** Who holds a lock exclusively, or leads the election of that name. One round trip. */
  public Optional<Leader> holder(String name) {
    requireOpen();
    try {
      return calls.holder(name);
    } catch (SQLException e) {
      throw LockException.of("the holder of lock '" + name + "' is not known", e);
    }
  }

  /**
   * Tells who holds a lock exclusively, or leads the election of that name: at once, and whenever
   * that has changed. The cluster pushes the change. A listener that is slow, or a process that is
   * cut off, may miss leaders in between, and learns of the last one. Nodes of an earlier version
   * tell nothing.
   *
   * @param listener is called on a thread of the client, once at a time
   * @return ends it, as does closing the client
   * @throws LockException if the cluster does not answer, or this client has {@link
   *     LockLimits#LISTENERS} such listeners
   */
  public Watch onHolderChange(String name, Consumer<Optional<Leader>> listener) {
    requireOpen();
    String checked = checked(name);
    if (watches.size() >= LockLimits.LISTENERS) {
      throw new LockException(
          SqlState.TOO_MANY.state(),
          "this client has "
              + LockLimits.LISTENERS
              + " listeners for the holders of locks (LockLimits.LISTENERS)");
    }
    LeaderWatch told = new LeaderWatch(threads.listeners(), listener);
    try {
      HolderWatch watch =
          calls.call(
              connection -> {
                try {
                  return connection.unwrap(ClusterSession.class).watchHolder(checked, told);
                } catch (TransportException e) {
                  throw new SQLException(e.getMessage(), e.failure().sqlState(), e);
                }
              });
      watches.add(watch);
      return () -> {
        watches.remove(watch);
        watch.close();
      };
    } catch (SQLException e) {
      throw LockException.of("the holder of lock '" + name + "' is not watched", e);
    }
  }

  Connections connections() {
    return connections;
  }

  LockCalls calls() {
    return calls;
  }

  ClientThreads threads() {
    return threads;
  }

  void forget(LeaderElection election) {
    elections.remove(election);
  }

  void forget(Lease lease) {
    leases.remove(lease);
  }

  private void requireOpen() {
    if (closed.get()) {
      throw new IllegalStateException("the lock client is closed");
    }
  }

  /**
   * Ends the elections, releases the locks and ends the leases of this client. If the cluster does
   * not answer, the locks are released when their leases expire. Never throws.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    watches.forEach(HolderWatch::close);
    List.copyOf(elections).forEach(LeaderElection::close);
    boolean clusterAnswers = true;
    for (Lease lease : List.copyOf(leases)) {
      clusterAnswers = lease.close(clusterAnswers);
    }
    threads.close();
    connections.close();
  }
}
