package dev.tollgate.core.command;

/**
 * Why the replicated state refused a command. The numbers are part of the log's contract: a new
 * code gets a new number, an old one is never given away again.
 */
public enum RefusalCode {
  /** The token presented is not the one under which the lock is held. */
  TOKEN_STALE(1),
  /** The table is fenced and the writer presented no token of its lock. */
  TOKEN_MISSING(2),
  /** The lease is unknown: never created, expired, or revoked. */
  LEASE_GONE(3),
  /** The lease holds the lock shared and asks for it exclusively. */
  LOCK_UPGRADE(4),
  /** The client cancelled its wait. */
  WAIT_CANCELLED(5),
  /** The session is unknown: never opened, expired, or closed. */
  SESSION_GONE(6),
  /**
   * The sequence number is older than the last one of its session: its outcome is no longer known.
   */
  SEQUENCE_PASSED(7),
  /** More of something than {@link Limits} allows. */
  LIMIT_REACHED(8),
  /** The table is not fenced, or is fenced already. */
  FENCE_STATE(9),
  /** The transaction was rolled back: a deadlock, or a limit. */
  TRANSACTION_LOST(10),
  /** Statements are not computed at the moment: the Java runtime of the nodes is exchanged. */
  ENVIRONMENT_CHANGES(11),
  /** The session has done something else under this sequence number. */
  SEQUENCE_REUSED(15),
  /** An operator has every node skip the command, because nodes stopped at it. */
  SKIPPED(20);

  private final int number;

  RefusalCode(int number) {
    this.number = number;
  }

  /** The code in log entries, snapshots and frames. */
  public int number() {
    return number;
  }
}
