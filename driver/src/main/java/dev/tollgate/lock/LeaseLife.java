package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Whether a lease is alive, closed or lost, and who is told. The state changes once, on whichever
 * thread finds the end. Thread-safe.
 */
final class LeaseLife {
  private static final Logger LOG = LockLog.LOG;

  private enum State {
    ALIVE,
    CLOSED,
    LOST
  }

  private final ClusterLease lease;
  private final Runnable afterLoss;
  private final LossListeners listeners;

  /** Of the locks that are held under the lease. */
  private final Set<LossListeners> ofLocks = new HashSet<>();

  private final List<Runnable> hooks = new ArrayList<>();
  private final List<Runnable> endHooks = new ArrayList<>();
  private final List<ThreadInterrupt> interrupts = new ArrayList<>();
  private State state = State.ALIVE;
  private volatile String lostBecause = "";

  /**
   * @param afterLoss runs once, after the state has changed
   */
  LeaseLife(ClusterLease lease, ClientThreads threads, Runnable afterLoss) {
    this.lease = requireNonNull(lease, "lease");
    this.listeners = new LossListeners(threads.listeners(), lease.toString(), this::lost);
    this.afterLoss = requireNonNull(afterLoss, "afterLoss");
  }

  /** Learns of the end of the lease from now on. */
  void begin() {
    lease.whenEnded(this::lose);
  }

  /** How long the proof lasts; zero if the lease is not alive. */
  Duration remaining() {
    return hasNotEnded() ? lease.remaining() : Duration.ZERO;
  }

  boolean isAlive() {
    if (hasNotEnded() && lease.remaining().isZero()) {
      lose("it was not renewed in time");
    }
    return hasNotEnded();
  }

  /** As {@link #isAlive}, but does not look at the clock. */
  synchronized boolean hasNotEnded() {
    return state == State.ALIVE;
  }

  synchronized boolean isLost() {
    return state == State.LOST;
  }

  synchronized RuntimeException notAlive() {
    return state == State.CLOSED
        ? new IllegalStateException(lease + " was closed")
        : lost(lostBecause);
  }

  private LockLostException lost(String because) {
    return new LockLostException(lease + " is lost: " + because);
  }

  void onLost(Consumer<LockLostException> listener) {
    synchronized (this) {
      if (state == State.ALIVE) {
        listeners.add(listener);
        return;
      }
      if (state == State.CLOSED) {
        return;
      }
    }
    listeners.tellLate(listener, lostBecause);
  }

  /**
   * Interrupts a thread if the lease is lost before it is closed: as the first of its listeners,
   * and not after {@link #close} has returned.
   */
  void interruptOnLoss(Thread thread) {
    ThreadInterrupt interrupt = new ThreadInterrupt(thread);
    synchronized (this) {
      interrupts.add(interrupt);
    }
    boolean added = false;
    try {
      onLost(loss -> interrupt.fire());
      added = true;
    } finally {
      if (!added) {
        forget(interrupt);
      }
    }
  }

  private synchronized void forget(ThreadInterrupt interrupt) {
    interrupts.remove(interrupt);
  }

  private void endInterrupts() {
    List<ThreadInterrupt> ended;
    synchronized (this) {
      ended = List.copyOf(interrupts);
      interrupts.clear();
    }
    ended.forEach(ThreadInterrupt::end);
  }

  /** Tells the listeners of a lock too, until they are forgotten; at once if it is lost. */
  void addLock(LossListeners ofLock) {
    synchronized (this) {
      if (state == State.ALIVE) {
        ofLocks.add(ofLock);
        return;
      }
    }
    if (isLost()) {
      ofLock.tell(lostBecause);
    } else {
      ofLock.clear();
    }
  }

  synchronized void forgetLock(LossListeners ofLock) {
    ofLocks.remove(ofLock);
  }

  /**
   * Runs on the thread that finds the loss, within the change of state, so never after {@link
   * #close} has returned. Must be quick, and nothing of the application's.
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

  /** As {@link #whenLost}, but runs when the lease is lost or closed, whichever comes first. */
  void whenEnded(Runnable hook) {
    synchronized (this) {
      if (state == State.ALIVE) {
        endHooks.add(hook);
        return;
      }
    }
    hook.run();
  }

  synchronized void forgetHook(Runnable hook) {
    hooks.remove(hook);
  }

  /**
   * Hands over who is told, to the lease that takes the place of this one.
   *
   * @return false if this lease has ended; then nothing is handed over
   */
  boolean bequeathTo(LeaseLife successor) {
    List<Runnable> run;
    List<Runnable> runAtEnd;
    List<ThreadInterrupt> moved;
    synchronized (this) {
      if (state != State.ALIVE) {
        return false;
      }
      run = List.copyOf(hooks);
      hooks.clear();
      runAtEnd = List.copyOf(endHooks);
      endHooks.clear();
      moved = List.copyOf(interrupts);
      interrupts.clear();
    }
    run.forEach(successor::whenLost);
    runAtEnd.forEach(successor::whenEnded);
    synchronized (successor) {
      successor.interrupts.addAll(moved);
    }
    successor.inherit(listeners);
    return true;
  }

  private void inherit(LossListeners former) {
    listeners.takeFrom(former);
    synchronized (this) {
      if (state == State.ALIVE) {
        return;
      }
    }
    if (isLost()) {
      listeners.tell(lostBecause);
    } else {
      listeners.clear();
    }
  }

  void lose(String because) {
    List<LossListeners> told;
    synchronized (this) {
      if (state != State.ALIVE) {
        return;
      }
      state = State.LOST;
      lostBecause = because;
      told = List.copyOf(ofLocks);
      ofLocks.clear();
      lease.pauseHeartbeats();
      hooks.forEach(this::carryOn);
      hooks.clear();
      runEndHooks();
    }
    carryOn(lease::close);
    carryOn(() -> listeners.tell(because));
    told.forEach(each -> carryOn(() -> each.tell(because)));
    LOG.log(Logger.Level.WARNING, "{0} is lost: {1}", lease, because);
    carryOn(afterLoss);
  }

  private void runEndHooks() {
    endHooks.forEach(this::carryOn);
    endHooks.clear();
  }

  /** A step that fails, for want of a thread for example, keeps the others from nothing. */
  private void carryOn(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.log(Logger.Level.ERROR, lease + " has ended, and this has failed after it", e);
    }
  }

  /** Returns false if the lease had ended before. */
  boolean close() {
    if (!leave()) {
      return false;
    }
    lease.close();
    return true;
  }

  /** As {@link #close}, but its heartbeats may be resumed. */
  boolean leave() {
    boolean first = changeToClosed();
    endInterrupts();
    return first;
  }

  private synchronized boolean changeToClosed() {
    if (state != State.ALIVE) {
      return false;
    }
    // first: whatever is thrown from here on, nobody ends the lease once more
    lease.pauseHeartbeats();
    state = State.CLOSED;
    hooks.clear();
    runEndHooks();
    listeners.clear();
    ofLocks.forEach(LossListeners::clear);
    ofLocks.clear();
    return true;
  }
}
