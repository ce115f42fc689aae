package dev.tollgate.core;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides who gets a lock, and when.
 *
 * <p>Rules: as many leases hold a lock exclusively as it has permits, one unless it is defined
 * otherwise, or several hold it shared (I1). Requests are granted in log order (I9): a request that
 * could join waits behind one that cannot. A lease that requests a lock it already holds gets the
 * same token. A shared hold cannot become exclusive: two leases that tried would wait for each
 * other forever.
 *
 * <p>A request for several locks stands in the queue of each, and is granted when it is next in all
 * of them and all admit it. The oldest of all waiting requests is first in each of its queues, so
 * no request is passed over for ever, and requests do not wait for each other in a circle.
 */
final class LockGrants {
  /** Receives what other commands than the current one, and other clients, have to learn of. */
  interface Listener {
    /** The wait of a request has ended. */
    void completed(RequestId request, Outcome outcome);

    /** A lease that lives on does not hold the lock any more, whoever released it. */
    void dropped(Hold hold);
  }

  private final LockTable locks;
  private final Capacity capacity;
  private final EventRecorder audit;
  private final Listener listener;

  /** The locks to hand on when {@link #endTogether} has ended all; null outside. */
  private @Nullable Set<LockName> postponed;

  LockGrants(LockTable locks, Capacity capacity, EventRecorder audit, Listener listener) {
    this.locks = locks;
    this.capacity = capacity;
    this.audit = audit;
    this.listener = listener;
  }

  /**
   * Grants a lock, refuses it, or lets the request wait.
   *
   * @param waitMillis 0: the request does not wait
   */
  Outcome acquire(
      LockName name,
      Lease lease,
      LockMode mode,
      long waitMillis,
      RequestId request,
      long nowMicros) {
    Lock lock = locks.find(name);
    Hold mine = lock == null ? null : lock.holdOf(lease);
    if (lock != null && mine != null) {
      return lock.mode() == LockMode.SHARED && mode == LockMode.EXCLUSIVE
          ? upgradeRefused(name, lease)
          : new Outcome.Granted(mine.token());
    }
    if (isFree(lock, mode)) {
      Outcome.Refused full = full(lease, 1);
      full = full == null ? locks.crowded(name, lease.user()) : full;
      return full == null
          ? new Outcome.Granted(
              grant(name, lease, mode, request.session(), nowMicros, AuditEvent.GrantWay.AT_ONCE))
          : full;
    }
    return await(List.of(name), new Waiter(request, lease, mode, nowMicros, waitMillis, List.of()));
  }

  /** Grants several locks exclusively, all or none, or lets the request wait for all. */
  Outcome acquireAll(
      List<LockName> names, Lease lease, long waitMillis, RequestId request, long nowMicros) {
    boolean free = true;
    int missing = 0;
    for (LockName name : names) {
      Lock lock = locks.find(name);
      if (lock == null || lock.holdOf(lease) == null) {
        missing++;
        free &= isFree(lock, LockMode.EXCLUSIVE);
      } else if (lock.mode() == LockMode.SHARED) {
        return upgradeRefused(name, lease);
      }
    }
    if (free) {
      Outcome.Refused full = full(lease, missing);
      return full == null
          ? grantAll(names, lease, request.session(), nowMicros, AuditEvent.GrantWay.AT_ONCE)
          : full;
    }
    return await(
        names, new Waiter(request, lease, LockMode.EXCLUSIVE, nowMicros, waitMillis, names));
  }

  private boolean isFree(@Nullable Lock lock, LockMode mode) {
    return lock == null || (lock.next() == null && locks.admits(lock, mode));
  }

  private Outcome await(List<LockName> names, Waiter waiter) {
    if (waiter.waitMillis() == 0) {
      return new Outcome.NotGranted();
    }
    for (LockName name : names) {
      Lock lock = locks.find(name);
      if (lock != null && lock.waiters().size() >= capacity.waitersPerLock()) {
        return Capacity.exceeded(
            "the number of requests that wait for lock '" + name + "' is",
            capacity.waitersPerLock(),
            "try again later");
      }
      int ofLease = lock == null ? 0 : lock.waitersOf(waiter.lease()).size();
      if (ofLease >= capacity.waitersPerLockAndLease()) {
        return Capacity.exceeded(
            "the number of requests of lease "
                + waiter.lease().id()
                + " that wait for lock '"
                + name
                + "' is",
            capacity.waitersPerLockAndLease(),
            "try again later, or use several leases");
      }
    }
    for (LockName name : names) {
      locks.enqueue(locks.changeable(name), waiter);
      waiter.lease().nowAwaits(name);
    }
    return new Outcome.Waiting();
  }

  private Outcome.@Nullable Refused full(Lease lease, int more) {
    String instead = "release those that are not needed; view TOLLGATE.LOCKS names them";
    return locks.holds() + more <= capacity.holds()
        ? locks.full(lease.user(), more, instead)
        : Capacity.exceeded("the number of held locks is", capacity.holds(), instead);
  }

  private FencingToken grant(
      LockName name,
      Lease lease,
      LockMode mode,
      SessionId session,
      long nowMicros,
      AuditEvent.GrantWay way) {
    FencingToken token = locks.grant(locks.changeable(name), lease, mode, session, nowMicros);
    audit.granted(name, lease, mode, token, session, way);
    return token;
  }

  private Outcome.GrantedAll grantAll(
      List<LockName> names,
      Lease lease,
      SessionId session,
      long nowMicros,
      AuditEvent.GrantWay way) {
    List<FencingToken> tokens = new ArrayList<>(names.size());
    for (LockName name : names) {
      Hold mine = locks.holdOf(name, lease);
      tokens.add(
          mine == null
              ? grant(name, lease, LockMode.EXCLUSIVE, session, nowMicros, way)
              : mine.token());
    }
    return new Outcome.GrantedAll(tokens);
  }

  private void drop(Lock lock, Hold hold, long nowMicros) {
    locks.drop(lock, hold);
    if (!hold.onlyKeeps()) {
      audit.tallies().held(nowMicros - hold.sinceMicros());
    }
  }

  /** Releases this lease's hold; returns false if the lease has none. */
  boolean release(LockName name, Lease lease, long nowMicros) {
    Hold released = releaseHold(name, lease, nowMicros);
    if (released != null) {
      listener.dropped(released);
    }
    return released != null;
  }

  private @Nullable Hold releaseHold(LockName name, Lease lease, long nowMicros) {
    Lock lock = locks.find(name);
    Hold mine = lock == null ? null : lock.holdOf(lease);
    if (mine != null) {
      drop(locks.changeable(name), mine, nowMicros);
      handOn(List.of(name), nowMicros);
    }
    return mine;
  }

  /**
   * Hands a hold over to a lease that does not hold the lock, past all waiting requests.
   *
   * @return the new token
   */
  FencingToken move(LockName name, Hold hold, Lease to, SessionId session, long nowMicros) {
    Lock lock = locks.changeable(name);
    LockMode mode = lock.mode();
    drop(lock, hold, nowMicros);
    listener.dropped(hold);
    FencingToken token = grant(name, to, mode, session, nowMicros, AuditEvent.GrantWay.TRANSFER);
    handOn(completeTwins(lock, to, token), nowMicros);
    return token;
  }

  /**
   * Takes the lock from all its holders; returns false if it has none. The holders' leases stay
   * alive.
   */
  boolean forceRelease(LockName name, long nowMicros) {
    if (!locks.isHeld(name)) {
      return false;
    }
    Lock lock = locks.changeable(name);
    for (Hold hold : lock.holds()) {
      drop(lock, hold, nowMicros);
      listener.dropped(hold);
    }
    handOn(List.of(name), nowMicros);
    return true;
  }

  /** Grants the lock to waiting requests that it admits now that it has more permits. */
  void permitsRaised(LockName name, long nowMicros) {
    if (locks.find(name) != null) {
      handOn(List.of(name), nowMicros);
    }
  }

  /** Releases all locks that an ended lease held and refuses all its waiting requests. */
  void endOf(Lease lease, long nowMicros) {
    Set<LockName> changed = new LinkedHashSet<>();
    for (LockName name : List.copyOf(lease.awaited())) {
      Lock lock = locks.find(name);
      // what the lease waits for now: the queue changes meanwhile
      for (Waiter waiter : lock == null ? List.<Waiter>of() : lock.waitersOf(lease)) {
        audit.tallies().endedWait();
        changed.addAll(remove(name, waiter));
        listener.completed(
            waiter.request(),
            new Outcome.Refused(
                RefusalCode.LEASE_GONE,
                "lease " + lease.id() + " ended while it waited for lock '" + name + "'"));
      }
    }
    handOn(changed, nowMicros);
    for (LockName name : lease.held()) {
      // the end of the lease says it all
      var unused = releaseHold(name, lease, nowMicros);
    }
  }

  /**
   * Ends several leases or waits, and hands their locks on afterwards, so that none goes to a
   * request that is about to end.
   */
  void endTogether(Runnable endings, long nowMicros) {
    Set<LockName> changed = new LinkedHashSet<>();
    postponed = changed;
    endings.run();
    postponed = null;
    handOn(changed, nowMicros);
  }

  /** Removes a request from the queue of a lock, if it stands there, without an outcome. */
  void withdraw(LockName name, RequestId request, long nowMicros) {
    Lock lock = locks.find(name);
    Waiter waiter = lock == null ? null : lock.waiterOf(request);
    if (waiter != null) {
      audit.tallies().endedWait();
      handOn(remove(name, waiter), nowMicros);
    }
  }

  /** Ends one wait with this outcome; returns false if the request does not wait for this lock. */
  boolean endWait(LockName name, RequestId request, Outcome outcome, long nowMicros) {
    Lock lock = locks.find(name);
    Waiter waiter = lock == null ? null : lock.waiterOf(request);
    if (waiter == null) {
      return false;
    }
    audit.tallies().endedWait();
    List<LockName> changed = remove(name, waiter);
    listener.completed(request, outcome);
    handOn(changed, nowMicros);
    return true;
  }

  /** Removes a waiter from the queues in which it stands; returns the locks of these queues. */
  private List<LockName> remove(LockName name, Waiter waiter) {
    List<LockName> queues = waiter.isForSeveral() ? waiter.together() : List.of(name);
    for (LockName each : queues) {
      Lock lock = locks.changeable(each);
      locks.removeWaiter(lock, waiter.request());
      if (!lock.hasWaiterOf(waiter.lease())) {
        waiter.lease().noLongerAwaits(each);
      }
    }
    return queues;
  }

  /**
   * Grants locks to the requests that are next in line for them and can hold them, and forgets
   * locks that are unused. A request for several locks that leaves its queues makes way in each.
   */
  private void handOn(Collection<LockName> names, long nowMicros) {
    if (postponed != null) {
      postponed.addAll(names);
      return;
    }
    Deque<LockName> changed = new ArrayDeque<>(names);
    while (!changed.isEmpty()) {
      Lock lock = locks.find(changed.removeFirst());
      Waiter next = lock == null ? null : lock.next();
      while (lock != null && next != null && locks.isGrantable(lock, next)) {
        changed.addAll(complete(lock.name(), next, nowMicros));
        lock = locks.find(lock.name());
        next = lock == null ? null : lock.next();
      }
      if (lock != null) {
        locks.removeIfUnused(lock);
      }
    }
  }

  /** Grants a waiting request what it waits for; returns the locks whose queue has changed. */
  private Collection<LockName> complete(LockName name, Waiter waiter, long nowMicros) {
    Lease lease = waiter.lease();
    SessionId session = waiter.request().session();
    Set<LockName> changed = new LinkedHashSet<>(remove(name, waiter));
    if (!waiter.isForSeveral()) {
      Outcome.Refused crowded = locks.crowded(name, lease.user());
      if (crowded != null) {
        audit.tallies().endedWait();
        listener.completed(waiter.request(), crowded);
        return changed;
      }
      Lock lock = locks.changeable(name);
      FencingToken token =
          grant(name, lease, waiter.mode(), session, nowMicros, AuditEvent.GrantWay.AFTER_WAIT);
      audit.tallies().waited(nowMicros - waiter.sinceMicros());
      listener.completed(waiter.request(), new Outcome.Granted(token));
      changed.addAll(completeTwins(lock, lease, token));
      return changed;
    }
    List<LockName> names = waiter.together();
    Outcome.Refused full = full(lease, names.size());
    if (full != null) {
      audit.tallies().endedWait();
      listener.completed(waiter.request(), full);
      return changed;
    }
    Outcome.GrantedAll all =
        grantAll(names, lease, session, nowMicros, AuditEvent.GrantWay.AFTER_WAIT);
    audit.tallies().waited(nowMicros - waiter.sinceMicros());
    listener.completed(waiter.request(), all);
    for (int i = 0; i < names.size(); i++) {
      changed.addAll(completeTwins(locks.changeable(names.get(i)), lease, all.tokens().get(i)));
    }
    return changed;
  }

  /**
   * Ends the other waits of a lease for the lock that the lease has just been granted. A request
   * for several locks waits on for the others.
   *
   * @return the locks in which another request may have its turn now
   */
  private Collection<LockName> completeTwins(Lock lock, Lease lease, FencingToken token) {
    Set<LockName> changed = new LinkedHashSet<>();
    changed.add(lock.name());
    if (!lease.awaited().contains(lock.name())) {
      return changed;
    }
    for (Waiter twin : lock.waitersOf(lease)) {
      boolean upgrade = lock.mode() == LockMode.SHARED && twin.mode() == LockMode.EXCLUSIVE;
      if (upgrade || !twin.isForSeveral()) {
        changed.addAll(remove(lock.name(), twin));
        listener.completed(
            twin.request(),
            upgrade ? upgradeRefused(lock.name(), lease) : new Outcome.Granted(token));
      } else {
        // it needs one lock less, so it may have its turn in the others
        changed.addAll(twin.together());
      }
    }
    return changed;
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
}
