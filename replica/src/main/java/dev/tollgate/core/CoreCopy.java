package dev.tollgate.core;

import java.util.Iterator;
import java.util.List;

/**
 * The core's state between two commands, to be read while the machine goes on. Making one costs a
 * record for each lease and session, and a reference for each lock: there may be a million locks,
 * and nothing is applied meanwhile.
 *
 * <p>Immutable: any thread that it was handed to may read it.
 */
public final class CoreCopy implements Iterable<StateRecord> {
  private final List<StateRecord> beforeLocks;
  private final List<Lock> locks;
  private final List<StateRecord> afterLocks;

  /**
   * @param locks ones that nobody changes any more
   */
  CoreCopy(List<StateRecord> beforeLocks, List<Lock> locks, List<StateRecord> afterLocks) {
    this.beforeLocks = beforeLocks;
    this.locks = locks;
    this.afterLocks = afterLocks;
  }

  /** The records, always in the same order: a lease comes before what refers to it. */
  @Override
  public Iterator<StateRecord> iterator() {
    Iterator<StateRecord> before = beforeLocks.iterator();
    Iterator<Lock> lock = locks.iterator();
    Iterator<StateRecord> after = afterLocks.iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return before.hasNext() || lock.hasNext() || after.hasNext();
      }

      @Override
      public StateRecord next() {
        if (before.hasNext()) {
          return before.next();
        }
        return lock.hasNext() ? lock.next().state() : after.next();
      }
    };
  }
}
