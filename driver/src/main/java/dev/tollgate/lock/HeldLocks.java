package dev.tollgate.lock;

import java.util.List;

/**
 * Locks that were granted at the same moment. They are lost together with their lease, or one by
 * one if an operator takes one away. They are closed together or one by one. Thread-safe.
 */
public final class HeldLocks implements AutoCloseable {
  private final List<HeldLock> locks;

  HeldLocks(List<HeldLock> locks) {
    this.locks = List.copyOf(locks);
  }

  /** In the order in which they were named. */
  public List<HeldLock> locks() {
    return locks;
  }

  /**
   * The lock of this name.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public HeldLock lock(String name) {
    return locks.stream()
        .filter(lock -> lock.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("lock '" + name + "' is none of " + locks));
  }

  /** True if all of them are held, as far as this process can prove. */
  public boolean isHeld() {
    return locks.stream().allMatch(HeldLock::isHeld);
  }

  /** As {@link HeldLock#assertHeld}, for each of them. */
  public void assertHeld() {
    locks.forEach(HeldLock::assertHeld);
  }

  /** Releases all of them; never throws. */
  @Override
  public void close() {
    List<String> open = locks.stream().filter(HeldLock::end).map(HeldLock::name).toList();
    if (!open.isEmpty()) {
      locks.get(0).lease().release(open);
    }
  }
}
