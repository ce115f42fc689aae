package dev.tollgate.core;

import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.RequestId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A lock that is held, or that a request waits for. Any other lock has no object and costs nothing,
 * because tokens come from one counter and leave nothing behind. A lock that nobody holds has
 * waiters only if the next one asks for other locks too.
 *
 * <p>One hold is kept in a field, since nearly every lock has exactly one and a cluster may hold a
 * million of them. Further shared holds and the queue are allocated when needed.
 */
public final class Lock {
  private final LockName name;

  /**
   * How many copies of the table existed when this object was made: later copies share the object.
   */
  private final int copies;

  private LockMode mode = LockMode.EXCLUSIVE;
  private @Nullable Hold first;
  private @Nullable List<Hold> others;
  private @Nullable Deque<Waiter> queue;

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
    first = original.first;
    others = original.others == null ? null : new ArrayList<>(original.others);
    queue = original.queue == null ? null : new ArrayDeque<>(original.queue);
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

  /** The holds, in grant order; at most one for each permit if the lock is held exclusively. */
  public List<Hold> holds() {
    if (first == null) {
      return List.of();
    }
    if (others == null) {
      return List.of(first);
    }
    List<Hold> all = new ArrayList<>(others.size() + 1);
    all.add(first);
    all.addAll(others);
    return all;
  }

  /** How many leases hold the lock. */
  int holders() {
    return (first == null ? 0 : 1) + (others == null ? 0 : others.size());
  }

  /** The waiting requests, the next one first. */
  public Collection<Waiter> waiters() {
    return queue == null ? List.of() : Collections.unmodifiableCollection(queue);
  }

  boolean isHeld() {
    return first != null;
  }

  /** Returns true if the lock needs no object any more. */
  boolean isUnused() {
    return first == null && queue == null;
  }

  /** The hold of this lease, or null. */
  @Nullable Hold holdOf(Lease lease) {
    if (first == null || first.lease() == lease) {
      return first;
    }
    if (others != null) {
      for (Hold hold : others) {
        if (hold.lease() == lease) {
          return hold;
        }
      }
    }
    return null;
  }

  /**
   * Returns true if a request of this mode can join the present holders.
   *
   * @param permits how many leases may hold the lock exclusively at a time
   */
  boolean admits(LockMode requested, int permits) {
    return first == null
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
    if (first == null) {
      first = hold;
    } else {
      if (others == null) {
        others = new ArrayList<>(2);
      }
      others.add(hold);
    }
  }

  void remove(Hold hold) {
    if (hold.equals(first)) {
      first = others == null ? null : others.remove(0);
    } else if (others == null || !others.remove(hold)) {
      throw new IllegalStateException("lock '" + name + "' has no hold " + hold.token());
    }
    if (others != null && others.isEmpty()) {
      others = null;
    }
  }

  void enqueue(Waiter waiter) {
    if (queue == null) {
      queue = new ArrayDeque<>(2);
    }
    queue.addLast(waiter);
  }

  /**
   * The request that gets the lock next, or null. A request for several locks is passed over while
   * its lease holds this one: it waits for others.
   */
  @Nullable Waiter next() {
    for (Waiter waiter : waiters()) {
      if (!waiter.isForSeveral() || holdOf(waiter.lease()) == null) {
        return waiter;
      }
    }
    return null;
  }

  /** Returns true if this request is next in line, or none is. */
  boolean isInTurn(RequestId request) {
    Waiter next = next();
    return next == null || next.request().equals(request);
  }

  /** The place of a request in the queue, or null. */
  @Nullable Waiter waiterOf(RequestId request) {
    for (Waiter waiter : waiters()) {
      if (waiter.request().equals(request)) {
        return waiter;
      }
    }
    return null;
  }

  boolean hasWaiterOf(Lease lease) {
    for (Waiter waiter : waiters()) {
      if (waiter.lease() == lease) {
        return true;
      }
    }
    return false;
  }

  /** The waiting requests of a lease, in queue order. */
  List<Waiter> waitersOf(Lease lease) {
    List<Waiter> found = new ArrayList<>(1);
    for (Waiter waiter : waiters()) {
      if (waiter.lease() == lease) {
        found.add(waiter);
      }
    }
    return found;
  }

  /** Removes the waiter of a request from the queue, in which it must stand. */
  void removeWaiter(RequestId request) {
    if (queue != null) {
      for (Iterator<Waiter> all = queue.iterator(); all.hasNext(); ) {
        if (all.next().request().equals(request)) {
          all.remove();
          if (queue.isEmpty()) {
            queue = null;
          }
          return;
        }
      }
    }
    throw new IllegalStateException("request " + request + " does not wait for '" + name + "'");
  }
}
