package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.SqlState;
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
  /** The longest wait that the cluster takes; a longer one is asked for again. */
  static final Duration LONGEST_REQUEST = Duration.ofHours(1);

  private final LockClient client;
  private final Set<Lease> alive = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  Leases(LockClient client) {
    this.client = requireNonNull(client, "client");
  }

  /** Asks for locks under a lease of their own, without waiting. */
  Optional<HeldLocks> grantNow(List<String> names, LockOptions options) {
    List<String> checked = LockNames.checked(names, options);
    Lease lease = create(options, Duration.ZERO);
    boolean granted = false;
    try {
      Optional<HeldLocks> locks = lease.acquireNow(checked, options, /* ownedByLocks= */ true);
      granted = locks.isPresent();
      if (!granted) {
        lease.close();
      }
      return locks;
    } finally {
      if (!granted) {
        lease.discard();
      }
    }
  }

  /**
   * Waits for locks under a lease of their own. A lease that is lost while it waits is replaced:
   * the request begins anew with another.
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
      Lease lease = create(options, margin);
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

  private Lease create(LockOptions options, Duration margin) {
    Duration ttl = options.ttl().orElse(LockClient.DEFAULT_TTL);
    return create(ttl, options.owner().orElse(null), margin);
  }

  /**
   * Creates a lease and keeps it alive.
   *
   * @param owner null for the name of the application
   * @param margin how long before the end of the proof the lease counts as lost
   */
  Lease create(Duration ttl, @Nullable String owner, Duration margin) {
    client.requireOpen();
    if (alive.size() >= LockLimits.LEASES) {
      throw new LockException(
          SqlState.TOO_MANY.state(),
          "this client has "
              + LockLimits.LEASES
              + " leases (LockLimits.LEASES): close the locks that are not needed");
    }
    try {
      Lease lease = client.calls().call(connection -> create(connection, ttl, owner, margin));
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
    Lease lease = new Lease(client, id, ttl, margin, owner == null ? "" : owner);
    try {
      Duration age = Duration.ofNanos(System.nanoTime() - sentNanos);
      lease.keptBy(session.keepAlive(id, ttl, age, () -> lease.lose("the cluster has ended it")));
    } catch (TransportException e) {
      throw new SQLException(e.getMessage(), e.failure().sqlState(), e);
    }
    return lease;
  }

  int count() {
    return (int) alive.stream().filter(Lease::isAlive).count();
  }

  int countLocks() {
    return alive.stream().mapToInt(Lease::countLocks).sum();
  }

  void forget(Lease lease) {
    alive.remove(lease);
  }

  /** Ends all leases; the cluster is told as long as it answers. */
  void close() {
    closed = true;
    boolean clusterAnswers = true;
    for (Lease lease : List.copyOf(alive)) {
      clusterAnswers = lease.close(clusterAnswers);
    }
  }
}
