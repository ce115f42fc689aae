package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.PatientWait;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/** One view of a lock; its state is in {@link ThreadHolds}. */
final class ThreadLock implements FencedLock {
  private final LockClient client;
  private final ThreadHolds holds;
  private final String name;
  private final boolean shared;
  private final LockOptions options;

  /**
   * @param options with the ttl and owner of the lease; the rest is this view's
   */
  ThreadLock(
      LockClient client, ThreadHolds holds, String name, boolean shared, LockOptions options) {
    this.client = requireNonNull(client, "client");
    this.holds = requireNonNull(holds, "holds");
    this.name = requireNonNull(name, "name");
    this.shared = shared;
    LockOptions now = options.withoutWait();
    this.options = shared ? now.shared() : now.exclusive();
  }

  @Override
  public void lock() {
    requireNoUpgrade();
    holds.enter(
        name,
        options,
        place -> {
          place.acquireUninterruptibly();
          return true;
        },
        () -> Optional.of(acquirePatiently()));
  }

  /**
   * An interrupt takes the request out of the queue of the cluster, at whose end it begins anew.
   */
  private HeldLock acquirePatiently() {
    return PatientWait.forAnswer(() -> client.acquire(name, options));
  }

  private void requireNoUpgrade() {
    if (holds.isUpgrade(name, shared)) {
      throw new IllegalMonitorStateException(
          "thread '"
              + Thread.currentThread().getName()
              + "' has lock '"
              + name
              + "' for reading and would wait for itself: unlock it first");
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    LockRequest.requireNotInterrupted();
    requireNoUpgrade();
    holds.enter(
        name,
        options,
        place -> {
          place.acquire();
          return true;
        },
        () -> Optional.of(client.acquire(name, options)));
  }

  @Override
  public boolean tryLock() {
    if (holds.isUpgrade(name, shared)) {
      return false;
    }
    boolean interrupted = Thread.interrupted();
    try {
      return holds.enter(
          name, options, Semaphore::tryAcquire, () -> client.tryAcquire(name, options));
    } catch (InterruptedException e) {
      interrupted = true;
      return false;
    } finally {
      ThreadInterrupt.restore(interrupted);
    }
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    LockRequest.requireNotInterrupted();
    if (holds.isUpgrade(name, shared)) {
      return false;
    }
    long nanos = Math.max(0, unit.toNanos(time));
    long end = System.nanoTime() + nanos;
    return holds.enter(
        name,
        options,
        place -> place.tryAcquire(nanos, TimeUnit.NANOSECONDS),
        () -> {
          Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
          return client.tryAcquire(name, options.waitFor(left));
        });
  }

  @Override
  public void unlock() {
    holds.exit(name, shared);
  }

  @Override
  public HeldLock held() {
    return holds.held(name, shared);
  }

  @Override
  public boolean isHeldByCurrentThread() {
    return holds.isHeld(name, shared);
  }

  @Override
  public int holdCount() {
    return holds.count(name, shared);
  }

  @Override
  public void extend(Duration term) {
    holds.extend(name, shared, term);
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("lock '" + name + "' of a cluster has no conditions");
  }

  @Override
  public String toString() {
    return "lock '" + name + (shared ? "' for reading" : "'");
  }
}
