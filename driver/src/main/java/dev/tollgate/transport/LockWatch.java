package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One hold of a lock under a {@link KeptLease}, of whose loss this process wants to know until it
 * closes the watch. Thread-safe.
 */
public final class LockWatch implements AutoCloseable {
  private final WatchedLocks locks;
  private final long token;
  private final Runnable onLost;
  private final Consumer<LockWatch> forget;
  private final AtomicBoolean over = new AtomicBoolean();

  LockWatch(WatchedLocks locks, long token, Runnable onLost, Consumer<LockWatch> forget) {
    this.locks = requireNonNull(locks, "locks");
    this.token = token;
    this.onLost = requireNonNull(onLost, "onLost");
    this.forget = requireNonNull(forget, "forget");
  }

  WatchedLocks locks() {
    return locks;
  }

  long token() {
    return token;
  }

  void lost() {
    if (over.compareAndSet(false, true)) {
      onLost.run();
    }
  }

  /** Ends the watch; a call that has begun goes on. */
  @Override
  public void close() {
    over.set(true);
    forget.accept(this);
  }
}
