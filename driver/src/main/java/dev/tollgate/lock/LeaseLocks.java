package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The locks that a lease has or awaits. Thread-safe. */
final class LeaseLocks {
  private final LockClient client;
  private final Lease lease;
  private final LeaseLife life;
  private final Set<String> names = new HashSet<>();
  private final Set<String> held = new HashSet<>();

  LeaseLocks(LockClient client, Lease lease, LeaseLife life) {
    this.client = requireNonNull(client, "client");
    this.lease = requireNonNull(lease, "lease");
    this.life = requireNonNull(life, "life");
  }

  /** Without waiting. */
  Optional<HeldLocks> acquireNow(List<String> wanted, LockOptions options) {
    long sentNanos = System.nanoTime();
    return reserving(
        LockNames.checked(wanted, options),
        reserved -> {
          Optional<List<Long>> tokens = new LockRequest(client, lease, reserved, options).now();
          return hold(reserved, options, tokens, sentNanos);
        });
  }

  /**
   * @param wait instead of that of the options
   */
  Optional<HeldLocks> acquire(List<String> wanted, LockOptions options, Duration wait)
      throws InterruptedException {
    if (wait.isZero()) {
      return acquireNow(wanted, options);
    }
    return reserving(
        LockNames.checked(wanted, options), reserved -> await(reserved, options, wait));
  }

  /** The cluster takes no longer wait than {@link LockRequest#LONGEST}, so it is asked again. */
  private Optional<HeldLocks> await(List<String> reserved, LockOptions options, Duration wait)
      throws InterruptedException {
    long end = System.nanoTime() + wait.toNanos();
    while (true) {
      long sentNanos = System.nanoTime();
      Duration left = Duration.ofNanos(Math.max(0, end - sentNanos));
      boolean last = left.compareTo(LockRequest.LONGEST) <= 0;
      Optional<List<Long>> tokens =
          new LockRequest(client, lease, reserved, options)
              .await(last ? left : LockRequest.LONGEST);
      if (last || tokens.isPresent()) {
        return hold(reserved, options, tokens, sentNanos);
      }
    }
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

  private Optional<HeldLocks> hold(
      List<String> wanted, LockOptions options, Optional<List<Long>> tokens, long sentNanos) {
    if (tokens.isEmpty()) {
      return Optional.empty();
    }
    lease.assertAlive();
    markHeld(wanted);
    List<HeldLock> locks = new ArrayList<>();
    for (int i = 0; i < wanted.size(); i++) {
      long token = tokens.get().get(i);
      locks.add(new HeldLock(client, lease, wanted.get(i), token, options.isShared()));
    }
    locks.forEach(lock -> lock.watch(sentNanos));
    return Optional.of(new HeldLocks(locks));
  }

  /** Refuses a second hold of the same lock: the cluster would grant the same one twice. */
  synchronized List<String> reserve(List<String> wanted) {
    if (!life.hasNotEnded()) {
      throw life.notAlive();
    }
    for (String name : wanted) {
      if (names.contains(name)) {
        throw new IllegalStateException(
            lease + " has or awaits lock '" + name + "' already; use another lease");
      }
    }
    names.addAll(wanted);
    return wanted;
  }

  /** How many locks the lease has or awaits. */
  synchronized int count() {
    return names.size();
  }

  /** Reserved locks are held from now on. */
  synchronized void markHeld(List<String> granted) {
    held.addAll(granted);
  }

  /** Some locks are no longer held. Returns true if the lease has no others. */
  synchronized boolean endHold(List<String> ended) {
    held.removeAll(ended);
    return held.isEmpty();
  }

  /** How many locks are held; zero if the lease is not alive. */
  int countHeld() {
    if (!life.isAlive()) {
      return 0;
    }
    synchronized (this) {
      return held.size();
    }
  }

  synchronized void free(List<String> freed) {
    names.removeAll(freed);
    held.removeAll(freed);
  }

  /**
   * Releases locks that are not handed out. If that cannot be confirmed, the lease is given up: it
   * must not be kept alive for a lock that no caller has.
   *
   * @return false if the cluster says that the lease did not hold one of them any more
   */
  boolean giveUp(List<String> granted) {
    boolean held = true;
    if (!life.hasNotEnded()) {
      return !life.isLost();
    }
    String why = "the call has failed";
    boolean answered = false;
    try {
      for (String name : granted) {
        held &= client.calls().release(name, lease.id());
      }
      answered = true;
    } catch (SQLException e) {
      why = String.valueOf(e.getMessage());
      return !SqlState.LEASE_GONE.state().equals(e.getSQLState());
    } finally {
      if (!answered) {
        life.lose("lock '" + granted.get(0) + "' could not be released: " + why);
      }
    }
    return held;
  }
}
