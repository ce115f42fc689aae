package dev.tollgate.core.command;

/**
 * Why the replicated state rejected a command. The numbers are part of the log's contract: a new
 * code gets a new number, and the number of an old code is never reused.
 */
public enum RefusalCode {
  /** The token presented is not the one under which the lock is held. */
  TOKEN_STALE(1),
  /** The table is fenced and the writer presented no token of the table's lock. */
  TOKEN_MISSING(2),
  /** The lease is unknown: never created, expired, or revoked. */
  LEASE_GONE(3),
  /** The lease holds the lock in shared mode and requests it exclusively. */
  LOCK_UPGRADE(4),
  /** The client cancelled its wait. */
  WAIT_CANCELLED(5),
  /** The session is unknown: never opened, expired, or closed. */
  SESSION_GONE(6),
  /**
   * The sequence number is older than its session's last one, so its outcome is no longer known.
   */
  SEQUENCE_PASSED(7),
  /** The command would exceed one of the {@link Limits}. */
  LIMIT_REACHED(8),
  /** The table is not fenced, or is fenced already. */
  FENCE_STATE(9),
  /** The transaction was rolled back: a deadlock, or a limit. */
  TRANSACTION_LOST(10),
  /** Statements are not computed while the Java runtime of the nodes is being exchanged. */
  ENVIRONMENT_CHANGES(11),
  /** The lock's definition or holders do not allow what the request asks for. */
  LOCK_STATE(12),
  /** The session has used this sequence number for another request. */
  SEQUENCE_REUSED(15),
  /** The user of the session has not been granted what the request needs. */
  RIGHT_MISSING(16),
  /** The session has no user where the cluster has users, or a user that is unknown. */
  AUTHENTICATION_FAILED(17),
  /** The users do not allow the change: the last administrator, the first user. */
  USER_STATE(18),
  /** An operator had every node skip the command, because nodes stopped at it. */
  SKIPPED(20);

  private final int number;

  RefusalCode(int number) {
    this.number = number;
  }

  /** Returns the code in log entries, snapshots and frames. */
  public int number() {
    return number;
  }
}
