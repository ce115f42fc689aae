package dev.tollgate.core.command;

/** When a fenced table accepts a token. */
public enum FenceReading {
  /** Only the token under which the lock is held exclusively at that log position. */
  HELD,

  /**
   * Any issued token that is not lower than the highest token the table has accepted. It is for
   * holders that release the lock first and hand over afterwards.
   */
  MONOTONIC
}
