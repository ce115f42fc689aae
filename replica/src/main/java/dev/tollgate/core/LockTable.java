package dev.tollgate.core;

import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The held locks, their holders and tokens, and the waiting requests.
 *
 * <p>Rules: a lock is held by one lease exclusively or by several together (I1). Requests are
 * granted in log order (I9): a request that could join waits behind one that cannot. Every grant
 * takes the next token of the one counter (I2). A lease that requests a lock it already holds gets
 * the same token. A shared hold cannot become exclusive: two leases that tried would wait for each
 * other forever.
 */
final class LockTable {
  /** Receives the outcomes of requests whose wait has ended. */
  interface WaitListener {
    void completed(RequestId request, Outcome outcome);
  }

  /** In order of the first grant since each lock was last free: the same on every replica. */
  private final Map<LockName, Lock> locks = new LinkedHashMap<>();

  private final Capacity capacity;
  private final WaitListener listener;
  private long lastToken;
  private int holds;
  private int copies;

  LockTable(Capacity capacity, WaitListener listener) {
    this.capacity = capacity;
    this.listener = listener;
  }

  Outcome acquire(
      LockName name,
      Lease lease,
      LockMode mode,
      long waitMillis,
      RequestId request,
      long nowMicros) {
    Lock lock = locks.get(name);
    if (lock == null) {
      if (holds >= capacity.holds()) {
        return tooManyHeld();
      }
      Lock fresh = new Lock(name, copies);
      locks.put(name, fresh);
      return new Outcome.Granted(grant(fresh, lease, mode, request.session(), nowMicros));
    }
    Hold mine = lock.holdOf(lease);
    if (mine != null) {
      return lock.mode() == LockMode.SHARED && mode == LockMode.EXCLUSIVE
          ? upgradeRefused(name, lease)
          : new Outcome.Granted(mine.token());
    }
    if (!lock.hasWaiters() && lock.admits(mode)) {
      if (holds >= capacity.holds()) {
        return tooManyHeld();
      }
      if (lock.holders() >= capacity.holdersPerLock()) {
        return Capacity.exceeded(
            "the number of leases that hold lock '" + name + "' in shared mode is",
            capacity.holdersPerLock(),
            "try again when some have released it");
      }
      return new Outcome.Granted(
          grant(changeable(lock), lease, mode, request.session(), nowMicros));
    }
    if (waitMillis == 0) {
      return new Outcome.NotGranted();
    }
    if (lock.waiters().size() >= capacity.waitersPerLock()) {
      return Capacity.exceeded(
          "the number of requests that wait for lock '" + name + "' is",
          capacity.waitersPerLock(),
          "try again later");
    }
    changeable(lock).enqueue(new Waiter(request, lease, mode, nowMicros, waitMillis));
    lease.nowAwaits(name);
    return new Outcome.Waiting();
  }

  private Outcome.Refused tooManyHeld() {
    return Capacity.exceeded(
        "the number of held locks is",
        capacity.holds(),
        "release those that are not needed; view TOLLGATE.LOCKS names them");
  }

  /** Releases this lease's hold; returns false if the lease has none. */
  boolean release(LockName name, Lease lease, long nowMicros) {
    Lock lock = locks.get(name);
    Hold mine = lock == null ? null : lock.holdOf(lease);
    if (lock == null || mine == null) {
      return false;
    }
    Lock changing = changeable(lock);
    drop(changing, mine);
    handOn(changing, nowMicros);
    return true;
  }

  /**
   * Takes the lock from all its holders; returns false if it is free. The holders' leases stay
   * alive.
   */
  boolean forceRelease(LockName name, long nowMicros) {
    Lock found = locks.get(name);
    if (found == null) {
      return false;
    }
    Lock lock = changeable(found);
    for (Hold hold : lock.holds()) {
      drop(lock, hold);
    }
    handOn(lock, nowMicros);
    return true;
  }

  /** Releases all locks that an ended lease held and refuses all its waiting requests. */
  void endOf(Lease lease, long nowMicros) {
    for (LockName name : List.copyOf(lease.awaited())) {
      Lock lock = changeable(existing(name));
      for (Waiter waiter : lock.removeWaitersOf(lease)) {
        listener.completed(
            waiter.request(),
            new Outcome.Refused(
                RefusalCode.LEASE_GONE,
                "lease " + lease.id() + " ended while it waited for lock '" + name + "'"));
      }
      lease.noLongerAwaits(name);
      handOn(lock, nowMicros);
    }
    for (LockName name : List.copyOf(lease.held())) {
      release(name, lease, nowMicros);
    }
  }

  /** Ends one wait with this outcome; returns false if the request does not wait for this lock. */
  boolean endWait(LockName name, RequestId request, Outcome outcome, long nowMicros) {
    Lock found = locks.get(name);
    if (found == null || !found.hasWaiter(request)) {
      return false;
    }
    Lock lock = changeable(found);
    Waiter waiter = lock.removeWaiter(request);
    forgetAwaitedUnlessAnother(lock, waiter.lease());
    listener.completed(request, outcome);
    handOn(lock, nowMicros);
    return true;
  }

  /** Returns true if a lease holds the lock under this token, exclusively or shared. */
  boolean isHeldUnder(LockName name, long token) {
    Lock lock = locks.get(name);
    if (lock != null) {
      for (Hold hold : lock.holds()) {
        if (hold.token().value() == token) {
          return true;
        }
      }
    }
    return false;
  }

  /** The exclusive hold of the lock, or null. */
  @Nullable Hold exclusiveHold(LockName name) {
    Lock lock = locks.get(name);
    return lock == null || lock.mode() == LockMode.SHARED ? null : lock.holds().get(0);
  }

  @Nullable Lock find(LockName name) {
    return locks.get(name);
  }

  Collection<Lock> all() {
    return Collections.unmodifiableCollection(locks.values());
  }

  /** Returns all locks as they are now, without later changes. Any thread may read them. */
  List<Lock> copy() {
    copies++;
    return new ArrayList<>(locks.values());
  }

  /**
   * Returns a lock that may be changed: an object that a copy shares with the table stays as it is.
   */
  private Lock changeable(Lock lock) {
    if (!lock.isSharedWithCopy(copies)) {
      return lock;
    }
    Lock own = new Lock(lock, copies);
    locks.put(lock.name(), own);
    return own;
  }

  void restoreLastToken(long token) {
    lastToken = token;
  }

  void restore(StateRecord.LockState state, LeaseTable leases) {
    Lock lock = new Lock(state, leases, copies);
    locks.put(state.name(), lock);
    holds += lock.holders();
  }

  /** The highest token ever granted, 0 if none was. */
  long lastToken() {
    return lastToken;
  }

  private FencingToken grant(
      Lock lock, Lease lease, LockMode mode, SessionId session, long nowMicros) {
    FencingToken token = new FencingToken(++lastToken);
    lock.add(new Hold(lease, token, nowMicros, session), mode);
    holds++;
    lease.nowHolds(lock.name());
    return token;
  }

  private void drop(Lock lock, Hold hold) {
    lock.remove(hold);
    holds--;
    hold.lease().noLongerHolds(lock.name());
  }

  /** Grants the lock to the requests at the head of its queue that can hold it, or removes it. */
  private void handOn(Lock lock, long nowMicros) {
    for (Waiter head = lock.head(); head != null && lock.admits(head.mode()); head = lock.head()) {
      lock.removeHead();
      FencingToken token =
          grant(lock, head.lease(), head.mode(), head.request().session(), nowMicros);
      listener.completed(head.request(), new Outcome.Granted(token));
      completeTwins(lock, head.lease(), token);
    }
    if (!lock.isHeld()) {
      locks.remove(lock.name());
    }
  }

  /** Ends the other waits of a lease for the lock that the lease has just been granted. */
  private void completeTwins(Lock lock, Lease lease, FencingToken token) {
    for (Waiter twin : lock.removeWaitersOf(lease)) {
      boolean upgrade = lock.mode() == LockMode.SHARED && twin.mode() == LockMode.EXCLUSIVE;
      listener.completed(
          twin.request(),
          upgrade ? upgradeRefused(lock.name(), lease) : new Outcome.Granted(token));
    }
    lease.noLongerAwaits(lock.name());
  }

  private static void forgetAwaitedUnlessAnother(Lock lock, Lease lease) {
    for (Waiter waiter : lock.waiters()) {
      if (waiter.lease() == lease) {
        return;
      }
    }
    lease.noLongerAwaits(lock.name());
  }

  private static Outcome upgradeRefused(LockName name, Lease lease) {
    return new Outcome.Refused(
        RefusalCode.LOCK_UPGRADE,
        "lease "
            + lease.id()
            + " holds lock '"
            + name
            + "' shared and asks for it exclusively: release it first");
  }

  private Lock existing(LockName name) {
    Lock lock = locks.get(name);
    if (lock == null) {
      throw new IllegalStateException("no lock '" + name + "'");
    }
    return lock;
  }

  /**
   * Checks all invariants between two commands; takes time in proportion to the table.
   *
   * @throws IllegalStateException naming the broken invariant
   */
  void checkInvariants() {
    int counted = 0;
    for (Map.Entry<LockName, Lock> entry : locks.entrySet()) {
      checkInvariants(entry.getKey(), entry.getValue());
      counted += entry.getValue().holders();
    }
    if (counted != holds) {
      throw new IllegalStateException(counted + " holds are counted as " + holds);
    }
  }

  private void checkInvariants(LockName name, Lock lock) {
    List<Hold> holds = lock.holds();
    check(!holds.isEmpty(), "a free lock is kept", name);
    check(lock.mode() == LockMode.SHARED || holds.size() == 1, "I1: held twice", name);
    long previous = 0;
    for (Hold hold : holds) {
      check(hold.token().value() > previous, "I2: tokens out of order", name);
      check(hold.token().value() <= lastToken, "I2: token beyond the counter", name);
      check(hold.lease().held().contains(name), "a lease does not know its lock", name);
      previous = hold.token().value();
    }
    Waiter head = lock.head();
    check(head == null || !lock.admits(head.mode()), "I9: a waiter that could hold waits", name);
    List<RequestId> seen = new ArrayList<>();
    for (Waiter waiter : lock.waiters()) {
      check(!seen.contains(waiter.request()), "a request waits twice", name);
      seen.add(waiter.request());
      check(waiter.lease().awaited().contains(name), "a lease does not know its wait", name);
      check(lock.holdOf(waiter.lease()) == null, "a holder waits for its own lock", name);
    }
  }

  private static void check(boolean holds, String broken, LockName name) {
    if (!holds) {
      throw new IllegalStateException(broken + ": lock '" + name + "'");
    }
  }
}
