package dev.tollgate.shedlock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.HeldLock;
import java.time.Duration;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * A lock that was granted and not unlocked yet, where the thread that asked for it finds it. Other
 * threads may extend and unlock it. Thread-safe.
 */
final class ActiveLock {
  private static final ThreadLocal<Deque<ActiveLock>> LOCKS =
      ThreadLocal.withInitial(ConcurrentLinkedDeque::new);

  private final Deque<ActiveLock> ofItsThread;
  private volatile HeldLock held;

  private ActiveLock(HeldLock held, Deque<ActiveLock> ofItsThread) {
    this.held = requireNonNull(held, "held");
    this.ofItsThread = requireNonNull(ofItsThread, "ofItsThread");
  }

  static ActiveLock onThisThread(HeldLock held) {
    Deque<ActiveLock> locks = LOCKS.get();
    // what was never unlocked would stay for the life of the thread
    locks.removeIf(former -> !former.held().isHeld());
    ActiveLock active = new ActiveLock(held, locks);
    locks.push(active);
    return active;
  }

  /** The lock that this thread asked for last, and has not unlocked. */
  static Optional<HeldLock> innermost() {
    return Optional.ofNullable(LOCKS.get().peek()).map(ActiveLock::held);
  }

  HeldLock held() {
    return held;
  }

  synchronized void extend(Duration term) {
    held = held.extend(term);
  }

  /** Returns what has to be released. */
  synchronized HeldLock end() {
    ofItsThread.remove(this);
    return held;
  }
}
