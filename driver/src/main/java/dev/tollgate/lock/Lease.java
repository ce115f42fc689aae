package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.KeptLease;
import java.lang.System.Logger;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A time for which locks are held, and which heartbeats of this process extend until {@link
 * #close}. All locks of a lease are released, or lost, together. Thread-safe.
 *
 * <p>The lease is alive for as long as this process can prove it: until its ttl, less a thousandth,
 * has passed on the monotonic clock since the last acknowledged heartbeat was sent. After that the
 * lease is lost for good, even if the cluster still has it.
 */
public final class Lease implements AutoCloseable {
  private static final Logger LOG = System.getLogger("dev.tollgate.lock");

  private enum State {
    ALIVE,
    CLOSED,
    LOST
  }

  private final LockClient client;
  private final long id;
  private final Duration ttl;
  private final Duration margin;
  private final String owner;
  private final Set<String> names = new HashSet<>();
  private final Set<String> held = new HashSet<>();
  private final List<Consumer<LockLostException>> listeners = new ArrayList<>();
  private final List<Runnable> hooks = new ArrayList<>();
  private State state = State.ALIVE;
  private String lostBecause = "";
  private @Nullable KeptLease kept;
  private @Nullable Future<?> deadline;

  /**
   * @param margin how long before the end of the proof the lease counts as lost
   */
  Lease(LockClient client, long id, Duration ttl, Duration margin, String owner) {
    this.client = requireNonNull(client, "client");
    this.id = id;
    this.ttl = requireNonNull(ttl, "ttl");
    this.margin = requireNonNull(margin, "margin");
    this.owner = requireNonNull(owner, "owner");
  }

  /** Takes over the heartbeats, and watches the deadline from now on. */
  void keptBy(KeptLease heartbeats) {
    boolean alive;
    synchronized (this) {
      kept = heartbeats;
      alive = state == State.ALIVE;
    }
    if (alive) {
      watchDeadline();
    } else {
      heartbeats.close();
    }
  }

  private void watchDeadline() {
    if (isAlive()) {
      Future<?> next = client.threads().runLater(remaining().plusMillis(1), this::watchDeadline);
      synchronized (this) {
        deadline = next;
        if (state != State.ALIVE) {
          next.cancel(false);
        }
      }
    }
  }

  /** The number of the lease, as in TOLLGATE.LEASES. */
  public long id() {
    return id;
  }

  /** How long the lease outlives this process. */
  public Duration ttl() {
    return ttl;
  }

  /** Who has it, for operators. */
  public String owner() {
    return owner;
  }

  /** How long the lease stays alive if no further heartbeat succeeds; zero if it is not alive. */
  public Duration remaining() {
    KeptLease heartbeats;
    synchronized (this) {
      heartbeats = state == State.ALIVE ? kept : null;
    }
    if (heartbeats == null) {
      return Duration.ZERO;
    }
    Duration left = heartbeats.remaining().minus(margin);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** True if it is certain, without asking the cluster, that the lease is alive. */
  public boolean isAlive() {
    synchronized (this) {
      if (state != State.ALIVE) {
        return false;
      }
    }
    if (remaining().isZero()) {
      lose("it was not renewed in time");
      return false;
    }
    return true;
  }

  /**
   * Returns if the lease is alive.
   *
   * @throws LockLostException if it is lost
   * @throws IllegalStateException if it was closed
   */
  public void assertAlive() {
    if (!isAlive()) {
      throw notAlive();
    }
  }

  private synchronized RuntimeException notAlive() {
    return state == State.CLOSED
        ? new IllegalStateException("lease " + id + " was closed")
        : new LockLostException("lease " + id + " of '" + owner + "' is lost: " + lostBecause);
  }

  /**
   * Calls a listener once if the lease is lost before it is closed; at once if it is lost already.
   * Listeners run on threads of the client, which do nothing else.
   *
   * @throws IllegalStateException if the lease has {@link LockLimits#LISTENERS} listeners
   */
  public void onLost(Consumer<LockLostException> listener) {
    requireNonNull(listener, "listener");
    synchronized (this) {
      if (state == State.ALIVE) {
        if (listeners.size() >= LockLimits.LISTENERS) {
          throw new IllegalStateException(
              "lease "
                  + id
                  + " has "
                  + LockLimits.LISTENERS
                  + " listeners already (LockLimits.LISTENERS)");
        }
        listeners.add(listener);
        return;
      }
      if (state == State.CLOSED) {
        return;
      }
    }
    tell(listener);
  }

  /**
   * Runs on the thread that finds the loss, within the change of state, so never after {@link
   * #close} has returned. Must be quick.
   */
  void whenLost(Runnable hook) {
    synchronized (this) {
      if (state == State.ALIVE) {
        hooks.add(hook);
        return;
      }
      if (state == State.LOST) {
        hook.run();
      }
    }
  }

  synchronized void forgetHook(Runnable hook) {
    hooks.remove(hook);
  }

  private void tell(Consumer<LockLostException> listener) {
    client
        .threads()
        .listeners()
        .execute(
            () -> {
              try {
                listener.accept((LockLostException) notAlive());
              } catch (RuntimeException e) {
                LOG.log(Logger.Level.WARNING, "a listener for the loss of lease " + id, e);
              }
            });
  }

  /** The lease is lost: the cluster has ended it, or it may have, or it has to end. */
  void lose(String because) {
    List<Consumer<LockLostException>> told;
    KeptLease heartbeats;
    synchronized (this) {
      if (state != State.ALIVE) {
        return;
      }
      state = State.LOST;
      lostBecause = because;
      told = List.copyOf(listeners);
      hooks.forEach(Runnable::run);
      hooks.clear();
      heartbeats = endWatch();
    }
    LOG.log(Logger.Level.WARNING, "lease {0} of ''{1}'' is lost: {2}", id, owner, because);
    if (heartbeats != null) {
      heartbeats.close();
    }
    told.forEach(this::tell);
    client.observers().leaseLost(this);
    client.forget(this);
    client.threads().runChore(this::revoke);
  }

  /**
   * Waits in line for a lock under this lease.
   *
   * @param options whose ttl, owner and interrupt do not apply: the lease has its own
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
        .observe(() -> acquireNow(List.of(name), LockOptions.DEFAULT, /* ownedByLocks= */ false))
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
        .observe(() -> acquire(wanted, options, /* ownedByLocks= */ false, options.waitTime()));
  }

  /** Without waiting. */
  Optional<HeldLocks> acquireNow(List<String> wanted, LockOptions options, boolean ownedByLocks) {
    return reserving(
        LockNames.checked(wanted, options),
        reserved ->
            hold(reserved, new LockRequest(client, this, reserved, options).now(), ownedByLocks));
  }

  /**
   * @param ownedByLocks true if the lease ends with these locks
   * @param wait instead of that of the options
   */
  Optional<HeldLocks> acquire(
      List<String> wanted, LockOptions options, boolean ownedByLocks, Duration wait)
      throws InterruptedException {
    if (wait.isZero()) {
      return acquireNow(wanted, options, ownedByLocks);
    }
    return reserving(
        LockNames.checked(wanted, options),
        reserved ->
            hold(
                reserved,
                new LockRequest(client, this, reserved, options).await(wait),
                ownedByLocks));
  }

  /** A way to get locks. */
  private interface Grant<E extends Exception> {
    Optional<HeldLocks> of(List<String> reserved) throws E;
  }

  private <E extends Exception> Optional<HeldLocks> reserving(List<String> wanted, Grant<E> grant)
      throws E {
    List<String> reserved = reserve(wanted);
    boolean granted = false;
    try {
      Optional<HeldLocks> locks = grant.of(reserved);
      granted = locks.isPresent();
      return locks;
    } finally {
      if (!granted) {
        free(reserved);
      }
    }
  }

  /** How many locks are held under the lease; zero if it is not alive. */
  int countLocks() {
    if (!isAlive()) {
      return 0;
    }
    synchronized (this) {
      return held.size();
    }
  }

  private Optional<HeldLocks> hold(
      List<String> wanted, Optional<List<Long>> tokens, boolean ownedByLocks) {
    if (tokens.isEmpty()) {
      return Optional.empty();
    }
    assertAlive();
    count(wanted);
    List<HeldLock> locks = new ArrayList<>();
    for (int i = 0; i < wanted.size(); i++) {
      locks.add(new HeldLock(client, this, wanted.get(i), tokens.get().get(i), ownedByLocks));
    }
    return Optional.of(new HeldLocks(locks));
  }

  /** Refuses a second hold of the same lock: the cluster would grant the same one twice. */
  synchronized List<String> reserve(List<String> wanted) {
    if (state != State.ALIVE) {
      throw notAlive();
    }
    for (String name : wanted) {
      if (names.contains(name)) {
        throw new IllegalStateException(
            "lease " + id + " has or awaits lock '" + name + "' already; use another lease");
      }
    }
    names.addAll(wanted);
    return wanted;
  }

  /** Reserved locks are held from now on. */
  synchronized void count(List<String> granted) {
    held.addAll(granted);
  }

  synchronized void free(List<String> freed) {
    names.removeAll(freed);
    held.removeAll(freed);
  }

  /**
   * Releases locks that are not handed out. If that cannot be confirmed, the lease is given up: it
   * must not be kept alive for a lock that no caller has.
   */
  void giveUp(List<String> granted) {
    synchronized (this) {
      if (state != State.ALIVE) {
        return;
      }
    }
    try {
      for (String name : granted) {
        client.calls().release(name, id);
      }
    } catch (SQLException e) {
      lose("lock '" + granted.get(0) + "' could not be released: " + e.getMessage());
    }
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

  /** As {@link #close}, but the cluster is told in the background. */
  void discard() {
    if (end() && !client.threads().runChore(this::revoke)) {
      revoke();
    }
  }

  private boolean end() {
    KeptLease heartbeats;
    synchronized (this) {
      if (state != State.ALIVE) {
        return false;
      }
      state = State.CLOSED;
      hooks.clear();
      heartbeats = endWatch();
    }
    if (heartbeats != null) {
      heartbeats.close();
    }
    client.forget(this);
    return true;
  }

  /** Ends the watch of the deadline; returns what else has to be closed. */
  private @Nullable KeptLease endWatch() {
    if (deadline != null) {
      deadline.cancel(false);
    }
    return kept;
  }

  /** Returns false if the cluster did not answer. */
  private boolean revoke() {
    try {
      client.calls().revoke(id);
      return true;
    } catch (SQLException e) {
      LOG.log(
          Logger.Level.WARNING,
          "lease {0} of ''{1}'' ends when its time is over: {2}",
          id,
          owner,
          e.getMessage());
      return false;
    }
  }

  @Override
  public String toString() {
    return "lease " + id + " of '" + owner + "'";
  }
}
