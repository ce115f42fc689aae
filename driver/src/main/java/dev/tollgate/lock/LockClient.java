package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.jdbc.TollgateDriver;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * Takes locks of a cluster for a process. Closing the client ends its leases and releases its
 * locks.
 *
 * <p>A lock that is held occupies no connection and no thread. A request that waits occupies one
 * connection for as long as it waits, and no thread but that of its caller. All leases of the
 * process are renewed by the same heartbeats, whichever client has them.
 *
 * <p>A lock that is not closed is held until the client is closed or the process ends.
 */
public final class LockClient implements AutoCloseable {
  /** How long a lock outlives this process if its options do not say. */
  public static final Duration DEFAULT_TTL = Duration.ofSeconds(15);

  private static final Pattern PRIVATE_NODE = Pattern.compile("jdbc:tollgate:mem:(\\?.*)?");

  private final Connections connections;
  private final LockCalls calls;
  private final ClientThreads threads = new ClientThreads();
  private final WaitingRequests waits = new WaitingRequests(threads);
  private final LockObservers observers = new LockObservers(threads.listeners());
  private final Leases leases = new Leases(this);
  private final Elections elections = new Elections(this);
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
              + url.split("\\?", 2)[0]
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
   * <p>Give the pool itself, and not a data source that is bound to transactions, as Spring's
   * TransactionAwareDataSourceProxy is: {@link HeldLock#run} refuses a connection in which a
   * transaction is open. It also refuses one that {@code SET FENCED} has fenced by another lock.
   *
   * @param dataSource of Tollgate
   */
  public static LockClient of(DataSource dataSource) {
    return new LockClient(new PooledConnections(dataSource));
  }

  /** Asks for a lock without waiting; empty if another lease has it. */
  public Optional<HeldLock> tryAcquire(String name) {
    return observers.observe(() -> leases.grantNow(List.of(name))).map(all -> all.locks().get(0));
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
   * @throws IllegalArgumentException if the options have {@link LockOptions#waitFor}: a bounded
   *     wait is {@link #tryAcquire(String, LockOptions)}
   */
  public HeldLock acquire(String name, LockOptions options) throws InterruptedException {
    LockOptions patient = options.requireNoWait();
    return observers
        .observe(() -> Optional.of(acquire(name, patient, Duration.ZERO)))
        .orElseThrow();
  }

  /** As {@link #acquireAsync(String, LockOptions)}, with the default options. */
  public CompletableFuture<HeldLock> acquireAsync(String name) {
    return acquireAsync(name, LockOptions.DEFAULT);
  }

  /**
   * Waits in line for a lock, for as long as it takes, without the thread of the caller. A request
   * occupies a connection and a thread of the client until the lock is granted, so a client has at
   * most {@link LockLimits#WAITING_REQUESTS}.
   *
   * <p>A future that is canceled, or completed by its {@code orTimeout}, takes the request out of
   * the queue; a lock that is granted at that moment is released. The caller closes the lock. What
   * depends on the future runs on the thread that has waited, and keeps it from other requests:
   * long work belongs to an executor, as with {@code thenAcceptAsync}.
   *
   * @return fails with LockException as {@link #acquire(String)} does, if as many requests wait as
   *     may, and if the client has {@link LockLimits#LISTENER_LANES} listeners
   * @throws IllegalArgumentException if the options have {@link LockOptions#waitFor}, whose
   *     counterpart is {@code orTimeout}, or {@link LockOptions#interruptOnLoss}, because there is
   *     no thread to interrupt: call {@link HeldLock#onLost}
   */
  public CompletableFuture<HeldLock> acquireAsync(String name, LockOptions options) {
    LockOptions patient = options.requireNoWait();
    if (options.interruptsOnLoss()) {
      throw new IllegalArgumentException(
          "no thread waits for acquireAsync, so a loss of lock '"
              + name
              + "' interrupts none: leave interruptOnLoss out, and call HeldLock.onLost");
    }
    requireOpen();
    String lock = checked(name);
    AsyncRequest request;
    try {
      ListenerLane interrupts =
          threads.listeners().open("the end of a request for lock '" + lock + "'");
      request = new AsyncRequest(() -> acquire(lock, patient), interrupts);
    } catch (LockException e) {
      return CompletableFuture.failedFuture(e);
    }
    try {
      threads.runWaiting(request);
    } catch (RuntimeException e) {
      request.refuse(e);
      if (!(e instanceof LockException)) {
        throw e;
      }
    }
    return request.future();
  }

  /**
   * The requests that wait for a lock, in the order in which they will be granted it; the first
   * {@link LockLimits#WAITERS_SHOWN} of them. One round trip. Empty too for a user without a right
   * on the lock.
   */
  public List<Waiter> waiters(String name) {
    return ask(
        "the waiters of lock '" + name + "' are not known", () -> calls.waiters(checked(name)));
  }

  /** How many requests wait for a lock. As {@link #waiters}, without their number as a limit. */
  public long countWaiters(String name) {
    return ask(
        "the waiters of lock '" + name + "' are not counted",
        () -> calls.countWaiters(checked(name)));
  }

  private interface Question<R> {
    R ask() throws SQLException;
  }

  private <R> R ask(String failed, Question<R> question) {
    requireOpen();
    try {
      return question.ask();
    } catch (SQLException e) {
      throw LockException.of(failed, e);
    }
  }

  /**
   * @param margin as of the lease
   */
  HeldLock acquire(String name, LockOptions options, Duration margin) throws InterruptedException {
    while (true) {
      Optional<HeldLocks> granted =
          leases.grant(List.of(name), options.waitFor(LockRequest.LONGEST), margin);
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
    return observers.observe(
        () -> {
          LockRequest.requireNotInterrupted();
          return leases.grant(names, options, Duration.ZERO);
        });
  }

  /** Creates a lease under which several locks may be held. */
  public Lease newLease(Duration ttl) {
    return leases.create(LockOptions.requireTtl(ttl), null, Duration.ZERO, /* ofLocks= */ false);
  }

  /**
   * Creates a lease under which several locks may be held.
   *
   * @param ttl how long the locks outlive this process, from 100 ms to 24 h
   * @param owner for operators, at most 255 characters
   */
  public Lease newLease(Duration ttl, String owner) {
    return leases.create(
        LockOptions.requireTtl(ttl),
        LockOptions.requireOwner(owner),
        Duration.ZERO,
        /* ofLocks= */ false);
  }

  /**
   * A lock as the JDK knows locks: it belongs to a thread and is re-entrant. Asking for it sends
   * nothing. A client has it once, also if {@code CREATE LOCK ... PERMITS} allows several holders:
   * {@link #tryAcquire(String)} takes several permits.
   */
  public FencedLock asLock(String name) {
    return asLock(name, LockOptions.DEFAULT);
  }

  /**
   * As {@link #asLock(String)}.
   *
   * @param options of which the ttl or term, the owner and the interrupt on loss apply
   */
  public FencedLock asLock(String name, LockOptions options) {
    return new ThreadLock(this, threadHolds, checked(name), /* shared= */ false, options);
  }

  /** As {@link #asLock(String)}, with a shared view for readers. */
  public FencedReadWriteLock asReadWriteLock(String name) {
    return asReadWriteLock(name, LockOptions.DEFAULT);
  }

  /** As {@link #asLock(String, LockOptions)}, with a shared view for readers. */
  public FencedReadWriteLock asReadWriteLock(String name, LockOptions options) {
    FencedLock write = asLock(name, options);
    FencedLock read = new ThreadLock(this, threadHolds, name, /* shared= */ true, options);
    return new ThreadReadWriteLock(read, write);
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
   * @throws LockException if the client has {@link LockLimits#LISTENER_LANES} listeners
   */
  public LeaderElection elect(String name, String candidate, Duration ttl, Candidate work) {
    requireOpen();
    return elections.stand(checked(name), candidate, ttl, work);
  }

  /**
   * Who holds a lock exclusively, or leads the election of that name. One round trip. Empty too for
   * a user without a right on the lock.
   */
  public Optional<Leader> holder(String name) {
    return ask("the holder of lock '" + name + "' is not known", () -> calls.holder(name));
  }

  /**
   * Tells who holds a lock exclusively, or leads the election of that name: at once, and whenever
   * that has changed. The cluster pushes the change. A listener that is slow, or a process that is
   * cut off, may miss leaders in between, and learns of the last one. Nodes of an earlier version
   * tell nothing.
   *
   * @param listener is called on a thread of the client, once at a time
   * @return ends it, as does closing the client
   * @throws LockException if the cluster does not answer, the user has no right on the lock, or
   *     this client has {@link LockLimits#LISTENERS} such listeners
   */
  public Watch onHolderChange(String name, Consumer<Optional<Leader>> listener) {
    requireOpen();
    return elections.watch(checked(name), listener);
  }

  /**
   * Tells an observer from now on how requests and leases of this client end.
   *
   * @throws IllegalStateException if this client has {@link LockLimits#LISTENERS} observers
   */
  public void addObserver(LockObserver observer) {
    observers.add(observer);
  }

  /** What this client has now. Asks no node. */
  public LockCounts counts() {
    return new LockCounts(leases.count(), leases.countLocks(), waits.count(), elections.countLed());
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

  WaitingRequests waits() {
    return waits;
  }

  LockObservers observers() {
    return observers;
  }

  Leases leases() {
    return leases;
  }

  void forget(LeaderElection election) {
    elections.forget(election);
  }

  void forget(Lease lease) {
    leases.forget(lease);
  }

  /** Throws if this client is closed. */
  void requireOpen() {
    if (closed.get()) {
      throw new IllegalStateException("the lock client is closed");
    }
  }

  /**
   * Ends the elections and the leases of this client, and with them its locks. First waits until
   * its leaders have returned, for at most the longest of their ttls after they were told; the lock
   * of a leader that has not returned by then, or that calls this itself, is released when its
   * lease expires. Threads that wait for their turn at a {@link FencedLock} get an {@link
   * IllegalStateException}. If the cluster does not answer, the locks are released when their
   * leases expire. Locks with a {@link LockOptions#fixedTerm} are no longer held here, and are
   * released when their term is over. Once the leaders have returned, the requests that wait end
   * within 3 s with an IllegalStateException; a lock that is granted to one of them at that moment
   * is released. A thread that was interrupted waits too, and stays interrupted. Never throws.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    threadHolds.close();
    Set<Lease> inUse = elections.close();
    waits.close();
    leases.close(inUse);
    threads.close();
    connections.close();
  }
}
