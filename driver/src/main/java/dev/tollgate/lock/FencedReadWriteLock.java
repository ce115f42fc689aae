package dev.tollgate.lock;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A shared and an exclusive view of one lock of the cluster. A thread that has the write lock may
 * take the read lock too, and keeps others out until it has released both. A thread that has only
 * the read lock cannot take the write lock: two such threads would wait for each other forever.
 */
public interface FencedReadWriteLock extends ReadWriteLock {
  @Override
  FencedLock readLock();

  @Override
  FencedLock writeLock();
}
