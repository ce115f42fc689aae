package dev.tollgate.core.command;

/** When a fenced table accepts a token. */
public enum FenceReading {
  /** Only the token under which the lock is held exclusively at that log position. */
  HELD,

  /**
   * Any issued token that is not lower than the highest one the table has accepted: for holders
   * that release first and hand over afterwards.
   */
  MONOTONIC
}
