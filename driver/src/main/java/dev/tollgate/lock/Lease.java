package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.LockWatch;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A time for which locks are held, and which heartbeats of this process extend until {@link
 * #close}; or which has a {@link LockOptions#fixedTerm}, and ends unless {@link #extend} is called.
 * When a lease ends, all of its locks end with it. Thread-safe.
 *
 * <p>The lease is alive for as long as this process can prove it: until its ttl, less a thousandth,
 * has passed on the monotonic clock since the last acknowledged renewal was sent. After that the
 * lease is lost for good, even if the cluster still has it.
 */
public final class Lease implements AutoCloseable {
  private final LockClient client;
  private final ClusterLease lease;
  private final LeaseLife life;
  private final LeaseLocks locks;
  private final boolean ofLocks;
  private volatile boolean fixed;

  /**
   * @param ofLocks true if the lease exists for the locks that were granted with it: it ends with
   *     the last of its locks
   */
  Lease(LockClient client, ClusterLease lease, boolean ofLocks) {
    this.client = requireNonNull(client, "client");
    this.lease = requireNonNull(lease, "lease");
    this.life = new LeaseLife(lease, client.threads(), this::afterLoss);
    this.ofLocks = ofLocks;
    this.locks = new LeaseLocks(client, this, life);
  }

  /** Learns of the end of the lease from now on. */
  void begin() {
    life.begin();
  }

  /** Sends no more heartbeats: the lease ends with its ttl, unless it is extended. */
  void fix() {
    fixed = true;
    lease.stopHeartbeats();
  }

  /** As {@link ClusterLease#pauseHeartbeats}. */
  void pauseHeartbeats() {
    lease.pauseHeartbeats();
  }

  /** The number of the lease, as in TOLLGATE.LEASES. */
  public long id() {
    return lease.id();
  }

  /** How long the lease outlives this process. */
  public Duration ttl() {
    return lease.ttl();
  }

  /** Who has it, for operators. */
  public String owner() {
    return lease.owner();
  }

  Duration margin() {
    return lease.margin();
  }

  /** True if the lease ends with its ttl unless it is extended: heartbeats do not renew it. */
  public boolean isFixed() {
    return fixed;
  }

  /** How long the lease stays alive if it is not renewed; zero if it is not alive. */
  public Duration remaining() {
    return life.remaining();
  }

  /** True if it is certain, without asking the cluster, that the lease is alive. */
  public boolean isAlive() {
    return life.isAlive();
  }

  /**
   * Returns if the lease is alive.
   *
   * @throws LockLostException if it is lost
   * @throws IllegalStateException if it was closed
   */
  public void assertAlive() {
    if (!isAlive()) {
      throw life.notAlive();
    }
  }

  /**
   * Renews the lease now: it has its full ttl from the moment at which this method was called. One
   * round trip.
   *
   * @throws LockLostException if the lease is lost, or is lost before the cluster answers
   * @throws IllegalStateException if it was closed
   * @throws LockException if the cluster does not answer; then the lease ends as if it had not been
   *     asked for more
   */
  public void extend() {
    assertAlive();
    long sentNanos = System.nanoTime();
    try {
      client.calls().renew(id());
    } catch (SQLException e) {
      if (SqlState.LEASE_GONE.state().equals(e.getSQLState())) {
        lose("the cluster has ended it");
        throw life.notAlive();
      }
      throw LockException.of(this + " is not extended", e);
    }
    // a proof that has ended in the meantime is not mended
    assertAlive();
    lease.renewed(Duration.ofNanos(System.nanoTime() - sentNanos));
    assertAlive();
  }

  /**
   * Calls a listener once if the lease is lost before it is closed; at once if it is lost already.
   * Listeners run on threads of the client, which do nothing else; those of one lease run one after
   * the other.
   *
   * @throws IllegalStateException if the lease has {@link LockLimits#LISTENERS} listeners
   * @throws LockException if the client has {@link LockLimits#LISTENER_LANES} listeners elsewhere
   */
  public void onLost(Consumer<LockLostException> listener) {
    life.onLost(requireNonNull(listener, "listener"));
  }

  /** As {@link LeaseLife#addLock}. */
  void addListeners(LossListeners ofLock) {
    life.addLock(ofLock);
  }

  void forgetListeners(LossListeners ofLock) {
    life.forgetLock(ofLock);
  }

  /** As {@link LeaseLife#whenLost}. */
  void whenLost(Runnable hook) {
    life.whenLost(hook);
  }

  /** As {@link LeaseLife#whenEnded}. */
  void whenEnded(Runnable hook) {
    life.whenEnded(hook);
  }

  /** As {@link LeaseLife#interruptOnLoss}. */
  void interruptOnLoss(Thread thread) {
    life.interruptOnLoss(thread);
  }

  void forgetHook(Runnable hook) {
    life.forgetHook(hook);
  }

  /** As {@link LeaseLife#bequeathTo}. */
  boolean bequeathTo(Lease successor) {
    return life.bequeathTo(successor.life);
  }

  /** The lease is lost: the cluster has ended it, or it may have, or it has to end. */
  void lose(String because) {
    life.lose(because);
  }

  private void afterLoss() {
    client.observers().leaseLost(this);
    client.forget(this);
    client.threads().runChore(this::revoke);
  }

  /**
   * Waits in line for a lock under this lease.
   *
   * @param options whose ttl or term, owner and interrupt do not apply: the lease has its own
   * @return empty if others had the lock for all of the wait
   * @throws IllegalStateException if the lease is closed, or has or awaits the lock already
   * @throws LockLostException if the lease is lost
   * @throws InterruptedException if the thread was interrupted; then the lock is not held
   */
  public Optional<HeldLock> tryAcquire(String name, LockOptions options)
      throws InterruptedException {
    return tryAcquireAll(List.of(name), options).map(all -> all.locks().get(0));
  }

  /** As {@link #tryAcquire(String, LockOptions)}, without waiting. */
  public Optional<HeldLock> tryAcquire(String name) {
    return client
        .observers()
        .observe(() -> locks.acquireNow(List.of(name), LockOptions.DEFAULT))
        .map(all -> all.locks().get(0));
  }

  /**
   * Waits for several locks, of which the lease gets all at the same moment or none.
   *
   * @param wanted at most {@link LockLimits#NAMES_AT_ONCE}, each once
   */
  public Optional<HeldLocks> tryAcquireAll(List<String> wanted, LockOptions options)
      throws InterruptedException {
    return client
        .observers()
        .observe(
            () -> {
              LockRequest.requireNotInterrupted();
              return locks.acquire(wanted, options, options.waitTime());
            });
  }

  /** As {@link ClusterLease#watchLock}. */
  LockWatch watchLock(long token, Duration age, Runnable onLost) {
    return lease.watchLock(token, age, onLost);
  }

  LeaseLocks locks() {
    return locks;
  }

  boolean belongsTo(LockClient other) {
    return client == other;
  }

  /**
   * Ends the lease and releases its locks. If the cluster does not answer, they are released when
   * the ttl has passed. Does nothing if the lease is closed or lost.
   */
  @Override
  public void close() {
    if (end()) {
      revoke();
    }
  }

  /** As {@link #close}, but tells the cluster only if it answers; returns whether it did. */
  boolean close(boolean clusterAnswers) {
    return !end() || (clusterAnswers && revoke());
  }

  /** Ends the lease, which has no lock, for this process; it may serve the next lock. */
  void leaveToNext() {
    if (!fixed && life.leave()) {
      client.forget(this);
      client.leases().keep(lease);
    }
  }

  boolean isOfLocks() {
    return ofLocks;
  }

  /**
   * Releases locks; with the last one ends a lease that exists for locks.
   *
   * @return false if the cluster says that the lease did not hold one of them any more
   */
  boolean release(List<String> names) {
    boolean last = locks.endHold(names);
    if (ofLocks && last) {
      return releaseLast(names);
    }
    try {
      return isAlive() ? locks.giveUp(names) : !life.isLost();
    } finally {
      locks.free(names);
    }
  }

  /** The lease may serve the next lock. If it may still be granted others, it ends. */
  private boolean releaseLast(List<String> names) {
    if (fixed) {
      boolean held = locks.giveUp(names);
      close();
      return held;
    }
    if (!life.leave()) {
      close();
      return !life.isLost();
    }
    client.forget(this);
    if (names.size() == 1 && locks.count() == 1) {
      return client.leases().release(lease, names.get(0));
    }
    revoke();
    return true;
  }

  /**
   * A lock is no longer held under this lease. A lease that exists for locks ends with the last.
   */
  void forgetHold(String name) {
    boolean last = locks.endHold(List.of(name));
    locks.free(List.of(name));
    if (ofLocks && last) {
      close();
    }
  }

  /** Ends the lease for this process alone: the cluster has it until its ttl is over. */
  void leave() {
    end();
  }

  /** As {@link #close}, but the cluster is told in the background. */
  void discard() {
    if (end() && !client.threads().runChore(this::revoke)) {
      revoke();
    }
  }

  private boolean end() {
    boolean first = life.close();
    if (first) {
      client.forget(this);
    }
    return first;
  }

  /** Returns false if the cluster did not answer. */
  private boolean revoke() {
    return client.leases().end(lease);
  }

  @Override
  public String toString() {
    return lease.toString();
  }
}
