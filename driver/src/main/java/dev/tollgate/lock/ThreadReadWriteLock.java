package dev.tollgate.lock;

/** Two views of a lock. */
record ThreadReadWriteLock(FencedLock readLock, FencedLock writeLock)
    implements FencedReadWriteLock {}
