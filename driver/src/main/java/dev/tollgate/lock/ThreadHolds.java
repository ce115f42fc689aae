package dev.tollgate.lock;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What the threads of this process hold by {@link FencedLock}, and how often each has locked it.
 * Threads that want the same lock exclusively take turns within the process. A hold that has ended,
 * in whatever way, gives up its turn at once; its thread may be dead. Thread-safe.
 */
final class ThreadHolds implements AutoCloseable {
  /** The counts are used by its thread alone. */
  private final class Hold {
    final Key key;
    final Turns.@Nullable Turn turn;
    final AtomicBoolean over = new AtomicBoolean();
    volatile HeldLock held;
    boolean interrupts;
    int reads;
    int writes;

    /**
     * @param interrupts true if the thread is interrupted if the lock is lost
     */
    Hold(Key key, HeldLock held, Turns.@Nullable Turn turn, boolean interrupts) {
      this.key = key;
      this.held = held;
      this.turn = turn;
      this.interrupts = interrupts;
    }

    /** Learns of the end of the lock, and of the lock that takes its place, from now on. */
    void begin() {
      held.whenMoved(successor -> held = successor);
      if (turn != null) {
        turn.examinedBy(() -> held.isHeld());
      }
      held.lease().whenEnded(this::noticeEnd);
    }

    /** The lock was lost, or its lease was closed, before the thread has unlocked. */
    private void noticeEnd() {
      if (over.compareAndSet(false, true)) {
        ended.add(this);
        giveUpTurn();
      }
    }

    void giveUpTurn() {
      if (turn != null) {
        turns.giveUp(turn);
      }
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

  /** A thread is itself, whatever its class makes of equals. */
  private record Key(Thread thread, String name) {
    static Key of(String name) {
      return new Key(Thread.currentThread(), name);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // that is what it is for
    public boolean equals(@Nullable Object other) {
      return other instanceof Key key && thread == key.thread && name.equals(key.name);
    }

    @Override
    public int hashCode() {
      return 31 * System.identityHashCode(thread) + name.hashCode();
    }
  }

  /** A request to the cluster. */
  interface Request<E extends Exception> {
    Optional<HeldLock> send() throws E;
  }

  private final Turns turns = new Turns();
  private final Map<Key, Hold> holds = new ConcurrentHashMap<>();

  /** Holds whose lock has ended, until their threads unlock or are dead. */
  private final Set<Hold> ended = ConcurrentHashMap.newKeySet();

  /**
   * Locks once more for this thread. What the thread has is prolonged if the options ask for more.
   *
   * @param options of which the kind, the term and the interrupt on loss apply here
   * @return false if others have the lock
   * @throws LockLostException if this thread had locked before, and the lock is lost
   * @throws IllegalStateException if the client is closed
   */
  <E extends Exception> boolean enter(
      String name, LockOptions options, Turns.Patience<E> patience, Request<E> request) throws E {
    Hold mine = holds.get(Key.of(name));
    if (mine == null) {
      return options.isShared()
          ? acquire(name, options, null, request)
          : takeTurn(name, options, patience, request);
    }
    HeldLock held = mine.held.prolong(options);
    if (options.interruptsOnLoss() && !mine.interrupts) {
      held.lease().interruptOnLoss(Thread.currentThread());
      mine.interrupts = true;
    }
    mine.count(options.isShared(), 1);
    return true;
  }

  /** True if this thread has the read lock alone, so that a write lock would wait for itself. */
  boolean isUpgrade(String name, boolean shared) {
    Hold mine = holds.get(Key.of(name));
    return mine != null && !shared && !mine.isExclusive();
  }

  private <E extends Exception> boolean takeTurn(
      String name, LockOptions options, Turns.Patience<E> patience, Request<E> request) throws E {
    Turns.Turn turn = turns.take(name, patience);
    if (turn == null) {
      return false;
    }
    boolean entered = false;
    try {
      entered = acquire(name, options, turn, request);
      return entered;
    } finally {
      if (!entered) {
        turns.giveUp(turn);
      }
    }
  }

  private <E extends Exception> boolean acquire(
      String name, LockOptions options, Turns.@Nullable Turn turn, Request<E> request) throws E {
    forgetDeadThreads();
    Optional<HeldLock> held = request.send();
    held.ifPresent(
        lock -> {
          Key key = Key.of(name);
          Hold hold = new Hold(key, lock, turn, options.interruptsOnLoss());
          hold.count(options.isShared(), 1);
          holds.put(key, hold);
          hold.begin();
        });
    return held.isPresent();
  }

  /** They do not unlock any more what they have lost. */
  private void forgetDeadThreads() {
    ended.removeIf(
        hold -> {
          boolean isDead = !hold.key.thread.isAlive();
          if (isDead) {
            holds.remove(hold.key, hold);
          }
          return isDead;
        });
  }

  /** Unlocks once; the last time, the lock is released. */
  void exit(String name, boolean shared) {
    Hold mine = require(name, shared);
    mine.count(shared, -1);
    if (mine.reads + mine.writes > 0) {
      return;
    }
    holds.remove(mine.key);
    boolean hadTurn = mine.over.compareAndSet(false, true);
    boolean held;
    try {
      held = mine.held.release();
    } finally {
      if (hadTurn) {
        mine.giveUpTurn();
      } else {
        ended.remove(mine);
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
    var unused = require(name, shared).held.extend(term);
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

  /** Ends the waits of threads for each other. */
  @Override
  public void close() {
    turns.close();
  }
}
