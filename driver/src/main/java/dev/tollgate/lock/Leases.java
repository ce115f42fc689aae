package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.SqlState;
import java.lang.System.Logger;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The leases of a client that are alive, and the locks that bring their own. Thread-safe. */
final class Leases {
  private static final Logger LOG = LockLog.LOG;

  private final LockClient client;
  private final Set<Lease> alive = ConcurrentHashMap.newKeySet();
  private final SpareLeases spares = new SpareLeases();
  private volatile boolean closed;

  Leases(LockClient client) {
    this.client = requireNonNull(client, "client");
  }

  /** As {@link #grant} with the default options, which do not wait. */
  Optional<HeldLocks> grantNow(List<String> names) {
    try {
      return grant(names, LockOptions.DEFAULT, Duration.ZERO);
    } catch (InterruptedException e) {
      throw new IllegalStateException("a request that does not wait was interrupted", e);
    }
  }

  /**
   * Asks for locks under a lease of their own. A lease that is lost while it waits is replaced, and
   * so is one that was kept from an earlier lock: the request begins anew with another.
   *
   * @param margin as of the lease
   */
  Optional<HeldLocks> grant(List<String> names, LockOptions options, Duration margin)
      throws InterruptedException {
    List<String> checked = LockNames.checked(names, options);
    Thread caller = Thread.currentThread();
    long end = System.nanoTime() + options.waitTime().toNanos();
    while (true) {
      Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
      ClusterLease spare = spareFor(options, margin);
      Lease lease = forGrant(spare, options, margin);
      boolean handedOut = false;
      try {
        Optional<HeldLocks> granted = lease.locks().acquire(checked, options, left);
        if (granted.isPresent()) {
          handOut(lease, spare == null && options.waitTime().isZero(), options, caller);
          handedOut = true;
          return granted;
        }
        if (options.waitTime().isZero()) {
          lease.leaveToNext();
        } else {
          lease.close();
        }
        if (end - System.nanoTime() <= 0) {
          return Optional.empty();
        }
      } catch (LockLostException e) {
        if (spare == null && options.waitTime().isZero()) {
          throw e;
        }
        if (spare == null && end - System.nanoTime() <= 0) {
          return Optional.empty();
        }
      } finally {
        if (!handedOut) {
          lease.discard();
        }
      }
    }
  }

  /** A fixed term begins with the grant, and not with a wait or an earlier lock. */
  private static void handOut(Lease lease, boolean isNew, LockOptions options, Thread caller) {
    if (options.isFixedTerm()) {
      lease.fix();
      if (!isNew) {
        lease.extend();
      }
    }
    if (options.interruptsOnLoss()) {
      lease.interruptOnLoss(caller);
    }
  }

  /** Creates a lease for locks that differs from another only in its ttl. */
  Lease like(Lease lease, Duration ttl) {
    Lease next =
        create(
            ttl,
            lease.owner().isEmpty() ? null : lease.owner(),
            lease.margin(),
            /* ofLocks= */ true);
    if (lease.isFixed()) {
      next.fix();
    }
    return next;
  }

  private @Nullable ClusterLease spareFor(LockOptions options, Duration margin) {
    client.requireOpen();
    return spares.take(ttlOf(options), options.owner().orElse(""), margin);
  }

  private Lease forGrant(@Nullable ClusterLease spare, LockOptions options, Duration margin) {
    return spare == null
        ? create(ttlOf(options), options.owner().orElse(null), margin, /* ofLocks= */ true)
        : begin(new Lease(client, spare, /* ofLocks= */ true));
  }

  private static Duration ttlOf(LockOptions options) {
    return options.ttl().orElse(LockClient.DEFAULT_TTL);
  }

  /**
   * Creates a lease and keeps it alive.
   *
   * @param owner null for the name of the application
   * @param margin how long before the end of the proof the lease counts as lost
   * @param ofLocks true if the lease ends with the last of its locks
   */
  Lease create(Duration ttl, @Nullable String owner, Duration margin, boolean ofLocks) {
    client.requireOpen();
    if (alive.size() >= LockLimits.LEASES) {
      throw new LockException(
          SqlState.TOO_MANY.state(),
          "this client has "
              + LockLimits.LEASES
              + " leases (LockLimits.LEASES): close the locks that are not needed");
    }
    try {
      ClusterLease lease =
          client.calls().call(connection -> create(connection, ttl, owner, margin));
      return begin(new Lease(client, lease, ofLocks));
    } catch (SQLException e) {
      throw LockException.of("no lease was created", e);
    }
  }

  private Lease begin(Lease lease) {
    lease.begin();
    alive.add(lease);
    if (closed) {
      lease.close();
      client.requireOpen();
    }
    if (!lease.isAlive()) {
      // it was lost before it could be forgotten
      alive.remove(lease);
    }
    return lease;
  }

  private ClusterLease create(
      Connection connection, Duration ttl, @Nullable String owner, Duration margin)
      throws SQLException {
    if (!connection.isWrapperFor(ClusterSession.class)) {
      throw new SQLException(
          "the data source is not one of Tollgate: " + connection.getMetaData().getURL(),
          SqlState.INVALID_ARGUMENT.state(),
          SqlState.INVALID_ARGUMENT.vendorCode());
    }
    ClusterSession session = connection.unwrap(ClusterSession.class);
    long sentNanos = System.nanoTime();
    long id =
        (owner == null
                ? LockCalls.number(connection, "SELECT create_lease(?)", ttl.toMillis())
                : LockCalls.number(connection, "SELECT create_lease(?, ?)", ttl.toMillis(), owner))
            .orElseThrow();
    ClusterLease lease = new ClusterLease(id, ttl, owner == null ? "" : owner, margin);
    try {
      Duration age = Duration.ofNanos(System.nanoTime() - sentNanos);
      lease.keptBy(
          session.keepAlive(id, ttl, age, () -> lease.ended("the cluster has ended it")),
          client.threads());
    } catch (TransportException e) {
      throw new SQLException(e.getMessage(), e.failure().sqlState(), e);
    }
    return lease;
  }

  int count() {
    return (int) alive.stream().filter(Lease::isAlive).count();
  }

  int countLocks() {
    return alive.stream().mapToInt(lease -> lease.locks().countHeld()).sum();
  }

  void forget(Lease lease) {
    alive.remove(lease);
  }

  /**
   * Releases the only lock of a lease; the lease serves the next lock, or ends.
   *
   * @return false if the cluster says that the lease did not hold the lock any more
   */
  boolean release(ClusterLease lease, String lock) {
    boolean released;
    boolean answered = false;
    try {
      released = client.calls().release(lock, lease.id());
      answered = true;
    } catch (SQLException e) {
      warn(lease, e);
      return !SqlState.LEASE_GONE.state().equals(e.getSQLState());
    } finally {
      if (!answered) {
        lease.close();
      }
    }
    if (released) {
      keep(lease);
    } else {
      end(lease);
    }
    return released;
  }

  /** Keeps a lease without locks for the next one. */
  void keep(ClusterLease lease) {
    lease.resumeHeartbeats();
    ClusterLease tooMany = spares.keep(lease);
    if (tooMany != null && !client.threads().runChore(() -> end(tooMany))) {
      end(tooMany);
    }
  }

  /** Ends a lease, its heartbeats first. Returns false if the cluster did not answer. */
  boolean end(ClusterLease lease) {
    lease.close();
    try {
      client.calls().revoke(lease.id());
      return true;
    } catch (SQLException e) {
      warn(lease, e);
      return false;
    }
  }

  private static void warn(ClusterLease lease, SQLException e) {
    LOG.log(Logger.Level.WARNING, "{0} ends when its time is over: {1}", lease, e.getMessage());
  }

  /**
   * Ends all leases; the cluster is told as long as it answers. A fixed term goes on without this
   * client.
   *
   * @param inUse leases whose work goes on: they get no more heartbeats, and expire
   */
  void close(Set<Lease> inUse) {
    closed = true;
    boolean clusterAnswers = true;
    for (Lease lease : List.copyOf(alive)) {
      if (lease.isFixed() || inUse.contains(lease)) {
        lease.leave();
      } else {
        clusterAnswers = lease.close(clusterAnswers);
      }
    }
    for (ClusterLease spare : spares.close()) {
      spare.close();
      clusterAnswers = clusterAnswers && end(spare);
    }
  }
}
