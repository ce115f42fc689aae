package dev.tollgate.spring;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.springframework.dao.CannotAcquireLockException;

/**
 * A view of a lock that fails as Spring Integration's own locks fail. It has no state: what a
 * thread holds is in the client.
 */
class RegistryLock implements FencedLock {
  private final LockClient client;
  private final String name;
  private final LockOptions options;
  private final FencedLock renewed;

  RegistryLock(LockClient client, String name, LockOptions options) {
    this.client = requireNonNull(client, "client");
    this.name = requireNonNull(name, "name");
    this.options = requireNonNull(options, "options");
    this.renewed = client.asLock(name, options);
  }

  private FencedLock withTerm(Duration term) {
    return client.asLock(name, options.fixedTerm(term));
  }

  private CannotAcquireLockException notAcquired(LockException cause) {
    return new CannotAcquireLockException(
        "lock '" + name + "' was not acquired: " + cause.getMessage(), cause);
  }

  @Override
  public void lock() {
    lock(renewed);
  }

  /**
   * Takes the lock for a fixed term: nothing renews it but {@link #extend}.
   *
   * @param ttl after which the lock is lost, from 100 ms to 24 h
   */
  public void lock(Duration ttl) {
    lock(withTerm(ttl));
  }

  private void lock(FencedLock lock) {
    try {
      lock.lock();
    } catch (LockException e) {
      throw notAcquired(e);
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    try {
      renewed.lockInterruptibly();
    } catch (LockException e) {
      throw notAcquired(e);
    }
  }

  @Override
  public boolean tryLock() {
    try {
      return renewed.tryLock();
    } catch (LockException e) {
      throw notAcquired(e);
    }
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return tryLock(renewed, time, unit);
  }

  /**
   * Takes the lock for a fixed term, as {@link #lock(Duration)}.
   *
   * @param waitTime how long to wait for it; more than 292 years counts as 292 years
   * @param ttl from 100 ms to 24 h
   * @return false if others had the lock for all that time
   */
  public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
    return tryLock(withTerm(ttl), nanos(waitTime), TimeUnit.NANOSECONDS);
  }

  /** A wait that is too long to count ends as late as can be counted. */
  private static long nanos(Duration wait) {
    return TimeUnit.NANOSECONDS.convert(wait);
  }

  private boolean tryLock(FencedLock lock, long time, TimeUnit unit) throws InterruptedException {
    try {
      return lock.tryLock(Math.max(0, time), unit);
    } catch (LockException e) {
      throw notAcquired(e);
    }
  }

  /**
   * Unlocks once.
   *
   * @throws dev.tollgate.lock.LockLostException if the lock was lost before; the hold ends all the
   *     same
   * @throws IllegalMonitorStateException if this thread does not hold the lock
   */
  @Override
  public void unlock() {
    renewed.unlock();
  }

  @Override
  public HeldLock held() {
    return renewed.held();
  }

  @Override
  public boolean isHeldByCurrentThread() {
    return renewed.isHeldByCurrentThread();
  }

  @Override
  public int holdCount() {
    return renewed.holdCount();
  }

  @Override
  public void extend(Duration term) {
    renewed.extend(term);
  }

  /** Not supported: a cluster has no conditions. */
  @Override
  public Condition newCondition() {
    return renewed.newCondition();
  }

  @Override
  public String toString() {
    return renewed.toString();
  }
}
