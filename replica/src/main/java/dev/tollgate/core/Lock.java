package dev.tollgate.core;

import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.RequestId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A lock that is held, or that a request waits for. Any other lock has no object and costs nothing,
 * because tokens come from one counter and leave nothing behind. A lock that nobody holds has
 * waiters only if the next one asks for other locks too.
 *
 * <p>One hold is kept in a field, since nearly every lock has exactly one and a cluster may hold a
 * million of them. Several holds and the queue are allocated when needed. Whatever concerns one
 * lease or one request finds it, without examining the others (ADR 0143).
 */
public final class Lock {
  private final LockName name;

  /**
   * How many copies of the table existed when this object was made: later copies share the object.
   */
  private final int copies;

  private LockMode mode = LockMode.EXCLUSIVE;

  /** The hold if there is exactly one. */
  private @Nullable Hold only;

  /** The holds if there are several. */
  private @Nullable HoldIndex several;

  private @Nullable WaitQueue queue;

  Lock(LockName name, int copies) {
    this.name = name;
    this.copies = copies;
  }

  /** A lock as it stood in a snapshot. */
  Lock(StateRecord.LockState state, LeaseTable leases, int copies) {
    this(state.name(), copies);
    mode = state.mode();
    for (StateRecord.HoldState hold : state.holds()) {
      append(
          new Hold(
              leases.existing(hold.lease()), hold.token(), hold.sinceMicros(), hold.session()));
    }
    for (StateRecord.WaiterState waiter : state.waiters()) {
      enqueue(
          new Waiter(
              waiter.request(),
              leases.existing(waiter.lease()),
              waiter.mode(),
              waiter.sinceMicros(),
              waiter.waitMillis(),
              waiter.together()));
    }
  }

  /** The same lock, for a table that has been copied this many times. */
  Lock(Lock original, int copies) {
    this(original.name, copies);
    mode = original.mode;
    only = original.only;
    several = original.several;
    queue = original.queue == null ? null : new WaitQueue(original.queue);
  }

  /** Returns true if one of the table's copies so far may still be reading this object. */
  boolean isSharedWithCopy(int copiesSoFar) {
    return copies != copiesSoFar;
  }

  StateRecord.LockState state() {
    List<StateRecord.HoldState> holdStates = new ArrayList<>(1);
    for (Hold hold : holds()) {
      holdStates.add(
          new StateRecord.HoldState(
              hold.lease().id(), hold.token(), hold.sinceMicros(), hold.session()));
    }
    List<StateRecord.WaiterState> waiterStates = new ArrayList<>(0);
    for (Waiter waiter : waiters()) {
      waiterStates.add(
          new StateRecord.WaiterState(
              waiter.request(),
              waiter.lease().id(),
              waiter.mode(),
              waiter.sinceMicros(),
              waiter.waitMillis(),
              waiter.together()));
    }
    return new StateRecord.LockState(name, mode, holdStates, waiterStates);
  }

  public LockName name() {
    return name;
  }

  /** The mode in which the lock is held; without a meaning if it is not held. */
  public LockMode mode() {
    return mode;
  }

  /**
   * The holds, in grant order; at most one for each permit if the lock is held exclusively. They
   * stay as they are now, at no cost.
   */
  public Collection<Hold> holds() {
    if (several != null) {
      return several.values();
    }
    return only == null ? List.of() : List.of(only);
  }

  /** How many leases hold the lock. */
  public int holders() {
    return several != null ? several.all().size() : only == null ? 0 : 1;
  }

  /** The oldest hold, or null. */
  public @Nullable Hold oldestHold() {
    return several != null ? several.all().first() : only;
  }

  /** The oldest hold of a lease that does not only keep the lock, or null. */
  public @Nullable Hold oldestUse() {
    if (several != null) {
      return several.used().first();
    }
    return only == null || only.onlyKeeps() ? null : only;
  }

  /** Returns true if a lease holds the lock under this token, and does not only keep it. */
  boolean isHeldUnder(long token) {
    if (several != null) {
      return several.used().get(token) != null;
    }
    return only != null && only.token().value() == token && !only.onlyKeeps();
  }

  /** The holds that end with a transaction, in grant order. */
  Collection<Hold> transactionHolds() {
    if (several != null) {
      return several.ofTransactions().values();
    }
    return only != null && HoldIndex.isOfTransaction(only) ? List.of(only) : List.of();
  }

  /** The waiting requests, the next one first. They stay as they are now, at no cost. */
  public Collection<Waiter> waiters() {
    return queue == null ? List.of() : queue.all();
  }

  /** The waiting requests for several locks, in queue order. */
  Collection<Waiter> waitingSets() {
    return queue == null ? List.of() : queue.sets();
  }

  boolean isHeld() {
    return only != null || several != null;
  }

  /** Returns true if the lock needs no object any more. */
  boolean isUnused() {
    return !isHeld() && queue == null;
  }

  /** The hold of this lease, or null. */
  public @Nullable Hold holdOf(Lease lease) {
    if (several != null) {
      return several.of(lease.id());
    }
    return only != null && only.lease() == lease ? only : null;
  }

  /**
   * Returns true if a request of this mode can join the present holders.
   *
   * @param permits how many leases may hold the lock exclusively at a time
   */
  boolean admits(LockMode requested, int permits) {
    return !isHeld()
        || (mode == requested && (requested == LockMode.SHARED || holders() < permits));
  }

  /** Adds a hold of this mode, which the present holders must admit. */
  void add(Hold hold, LockMode holdMode, int permits) {
    if (!admits(holdMode, permits)) {
      throw new IllegalStateException("lock '" + name + "' is held in mode " + mode);
    }
    mode = holdMode;
    append(hold);
  }

  private void append(Hold hold) {
    if (several != null) {
      several = several.with(hold);
    } else if (only == null) {
      only = hold;
    } else {
      several = HoldIndex.EMPTY.with(only).with(hold);
      only = null;
    }
    if (queue != null) {
      queue.passOver(hold.lease());
    }
  }

  void remove(Hold hold) {
    if (!hold.equals(holdOf(hold.lease()))) {
      throw new IllegalStateException("lock '" + name + "' has no hold " + hold.token());
    }
    HoldIndex left = several == null ? null : several.without(hold);
    boolean single = left == null || left.all().size() == 1;
    only = left == null ? null : single ? left.all().first() : null;
    several = single ? null : left;
    if (queue != null) {
      queue.passOverNoMore(hold.lease());
    }
  }

  void enqueue(Waiter waiter) {
    if (queue == null) {
      queue = new WaitQueue();
    }
    queue.add(waiter, holdOf(waiter.lease()) != null);
  }

  /**
   * The request that gets the lock next, or null. A request for several locks is passed over while
   * its lease holds this one: it waits for others.
   */
  @Nullable Waiter next() {
    return queue == null ? null : queue.next();
  }

  /** Returns true if this request is next in line, or none is. */
  boolean isInTurn(RequestId request) {
    Waiter next = next();
    return next == null || next.request().equals(request);
  }

  /** The place of a request in the queue, or null. */
  @Nullable Waiter waiterOf(RequestId request) {
    return queue == null ? null : queue.of(request);
  }

  /** Returns true if the first request stands before the second in the queue. */
  boolean isBefore(RequestId first, RequestId second) {
    return queue != null && queue.isBefore(first, second);
  }

  boolean hasWaiterOf(Lease lease) {
    return queue != null && !queue.of(lease).isEmpty();
  }

  /** The waiting requests of a lease, in queue order, as they are now. */
  Collection<Waiter> waitersOf(Lease lease) {
    return queue == null ? List.of() : queue.of(lease);
  }

  /** Removes the waiter of a request from the queue, in which it must stand. */
  void removeWaiter(RequestId request) {
    if (queue == null || !queue.remove(request)) {
      throw new IllegalStateException("request " + request + " does not wait for '" + name + "'");
    }
    if (queue.isEmpty()) {
      queue = null;
    }
  }
}
