package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What the threads of this process hold by {@link FencedLock}, and how often each has locked it.
 * Threads that want the same lock exclusively take turns within the process, so that one request of
 * the process stands in the queue of the cluster. Thread-safe.
 */
final class ThreadHolds {
  /** Where threads of this process wait for each other. */
  private static final class Turn {
    final ReentrantLock lock = new ReentrantLock(/* fair= */ true);
    int users;
  }

  /** Used by its thread alone. */
  private static final class Hold {
    HeldLock held;
    final @Nullable Turn turn;
    boolean interrupts;
    int reads;
    int writes;

    /**
     * @param interrupts true if the thread is interrupted if the lock is lost
     */
    Hold(HeldLock held, @Nullable Turn turn, boolean interrupts) {
      this.held = held;
      this.turn = turn;
      this.interrupts = interrupts;
    }

    boolean isExclusive() {
      return turn != null;
    }

    int count(boolean shared) {
      return shared ? reads : writes;
    }

    void count(boolean shared, int by) {
      if (shared) {
        reads += by;
      } else {
        writes += by;
      }
    }
  }

  private record Key(Thread thread, String name) {
    static Key of(String name) {
      return new Key(Thread.currentThread(), name);
    }
  }

  /** Waits for the turn of this thread; returns false if it does not come in time. */
  interface Patience {
    boolean await(ReentrantLock turn) throws InterruptedException;
  }

  /** A request to the cluster. */
  interface Request {
    Optional<HeldLock> send() throws InterruptedException;
  }

  private final Map<String, Turn> turns = new ConcurrentHashMap<>();
  private final Map<Key, Hold> holds = new ConcurrentHashMap<>();

  /**
   * Locks once more for this thread. What the thread has is prolonged if the options ask for more.
   *
   * @param options of which the kind, the term and the interrupt on loss apply here
   * @return false if others have the lock
   * @throws LockLostException if this thread had locked before, and the lock is lost
   */
  boolean enter(String name, LockOptions options, Patience patience, Request request)
      throws InterruptedException {
    Hold mine = holds.get(Key.of(name));
    if (mine == null) {
      return options.isShared()
          ? acquire(name, options, null, request)
          : takeTurn(name, options, patience, request);
    }
    mine.held = mine.held.prolong(options);
    if (options.interruptsOnLoss() && !mine.interrupts) {
      mine.interrupts = true;
      mine.held.lease().interruptOnLoss(Thread.currentThread());
    }
    mine.count(options.isShared(), 1);
    return true;
  }

  /** True if this thread has the read lock alone, so that a write lock would wait for itself. */
  boolean isUpgrade(String name, boolean shared) {
    Hold mine = holds.get(Key.of(name));
    return mine != null && !shared && !mine.isExclusive();
  }

  private boolean takeTurn(String name, LockOptions options, Patience patience, Request request)
      throws InterruptedException {
    Turn turn = join(name);
    boolean locked = false;
    boolean entered = false;
    try {
      locked = patience.await(turn.lock);
      entered = locked && acquire(name, options, turn, request);
      return entered;
    } finally {
      if (!entered) {
        leave(name, turn, locked);
      }
    }
  }

  private boolean acquire(String name, LockOptions options, @Nullable Turn turn, Request request)
      throws InterruptedException {
    Optional<HeldLock> held = request.send();
    held.ifPresent(
        lock -> {
          Hold hold = new Hold(lock, turn, options.interruptsOnLoss());
          hold.count(options.isShared(), 1);
          holds.put(Key.of(name), hold);
        });
    return held.isPresent();
  }

  private Turn join(String name) {
    return requireNonNull(
        turns.compute(
            name,
            (key, present) -> {
              Turn turn = present == null ? new Turn() : present;
              turn.users++;
              return turn;
            }));
  }

  private void leave(String name, Turn turn, boolean locked) {
    if (locked) {
      turn.lock.unlock();
    }
    turns.computeIfPresent(name, (key, present) -> --present.users == 0 ? null : present);
  }

  /** Unlocks once; the last time, the lock is released. */
  void exit(String name, boolean shared) {
    Hold mine = require(name, shared);
    mine.count(shared, -1);
    if (mine.reads + mine.writes > 0) {
      return;
    }
    holds.remove(Key.of(name));
    boolean held;
    try {
      held = mine.held.release();
    } finally {
      if (mine.turn != null) {
        leave(name, mine.turn, /* locked= */ true);
      }
    }
    if (!held) {
      throw new LockLostException(
          mine.held + " was lost before it was released: what it protects may have changed");
    }
  }

  /** How often this thread has locked. */
  int count(String name, boolean shared) {
    Hold mine = holds.get(Key.of(name));
    return mine == null ? 0 : mine.count(shared);
  }

  /** True if this thread has locked, and the lock is held. */
  boolean isHeld(String name, boolean shared) {
    Hold mine = holds.get(Key.of(name));
    return mine != null && mine.count(shared) > 0 && mine.held.isHeld();
  }

  HeldLock held(String name, boolean shared) {
    return require(name, shared).held;
  }

  /** Extends the hold of this thread, however often it has locked. */
  void extend(String name, boolean shared, Duration term) {
    Hold mine = require(name, shared);
    mine.held = mine.held.extend(term);
  }

  private Hold require(String name, boolean shared) {
    Hold mine = holds.get(Key.of(name));
    if (mine == null || mine.count(shared) == 0) {
      throw new IllegalMonitorStateException(
          "thread '"
              + Thread.currentThread().getName()
              + "' does not have lock '"
              + name
              + (shared ? "' for reading" : "'"));
    }
    return mine;
  }
}
