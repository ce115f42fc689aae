package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Where the threads of a client wait for each other, so that one request of the process stands in
 * the queue of the cluster. In contrast to a lock of the JDK, a turn belongs to no thread: whoever
 * finds that its lock has ended gives it up. Thread-safe.
 */
final class Turns implements AutoCloseable {
  /** More than all threads that can wait. */
  private static final int EVERYBODY = Integer.MAX_VALUE / 2;

  /** The place of one thread at a lock. */
  static final class Turn {
    private final String name;
    private final Semaphore place = new Semaphore(1, /* fair= */ true);
    private volatile Runnable look = () -> {};
    private int users;

    Turn(String name) {
      this.name = name;
    }

    /**
     * Of the thread that has the turn.
     *
     * @param look gives the turn up if its lock has ended; called by other threads
     */
    void examinedBy(Runnable look) {
      this.look = look;
    }
  }

  /** Waits for a place; returns false if none is free in time. */
  interface Patience<E extends Exception> {
    boolean await(Semaphore place) throws E;
  }

  private final Map<String, Turn> turns = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * Waits for a turn, which has to be given up.
   *
   * @return null if it does not come in time
   * @throws IllegalStateException if the client is closed before
   */
  <E extends Exception> @Nullable Turn take(String name, Patience<E> patience) throws E {
    Turn turn = join(name);
    boolean taken = false;
    try {
      requireOpen();
      turn.look.run();
      boolean came = patience.await(turn.place);
      requireOpen();
      taken = came;
      return came ? turn : null;
    } finally {
      if (!taken) {
        leave(turn);
      }
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the lock client is closed");
    }
  }

  private Turn join(String name) {
    return requireNonNull(
        turns.compute(
            name,
            (key, present) -> {
              Turn turn = present == null ? new Turn(name) : present;
              turn.users++;
              return turn;
            }));
  }

  private void leave(Turn turn) {
    turns.computeIfPresent(turn.name, (key, present) -> --present.users == 0 ? null : present);
  }

  /** Lets the next thread have the turn; call it once, on any thread. Does not wait. */
  void giveUp(Turn turn) {
    turn.examinedBy(() -> {});
    turn.place.release();
    leave(turn);
  }

  /** Ends all waits. */
  @Override
  public void close() {
    closed = true;
    turns.values().forEach(turn -> turn.place.release(EVERYBODY));
  }
}
