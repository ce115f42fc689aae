package dev.tollgate.simulation;

/**
 * Bugs that the simulation has to find: each is put around or in place of a part, never into the
 * product.
 */
enum Breakage {
  /** The product as it is. */
  NONE,
  /** A replica ends leases while it applies, by its own clock. */
  EXPIRY_BY_LOCAL_CLOCK,
  /** A snapshot brings the token counter back as the highest token that is held. */
  TOKEN_COUNTER_NOT_RESTORED,
  /** A snapshot brings the limits of transactions back as the standard ones. */
  TRANSACTION_LIMITS_FORGOTTEN,
  /** A snapshot brings sessions back without their fences. */
  SESSION_FENCE_FORGOTTEN,
  /** A snapshot brings sessions back in UTC. */
  TIME_ZONE_FORGOTTEN,
  /** The fence of a session becomes a clause of its row changes, and not of its definitions. */
  DEFINITIONS_NOT_FENCED,
  /** A snapshot brings sessions back without what they did last. */
  SESSION_TABLE_FORGOTTEN,
  /** A node that believes that it leads acknowledges heartbeats without proof. */
  RENEWAL_WITHOUT_BARRIER,
  /** A node that believes that it leads runs queries without proof. */
  READ_WITHOUT_BARRIER,
  /** A leader counts those who do not answer it. */
  SILENCE_CONFIRMS,
  /** A leader counts what it was answered before the query or the heartbeat came. */
  CONFIRMED_BEFORE_THE_READ,
  /** A waiter whose time is over stays in the queue. */
  TIMED_OUT_WAITER_STAYS,
  /** A leader applies and answers before a majority has the entry. */
  ANSWER_BEFORE_COMMIT,
  /** A follower acknowledges an entry before it is on its disk. */
  ACKNOWLEDGED_BEFORE_SYNC,
  /** The driver sends again under a new number. */
  RETRY_UNDER_NEW_NUMBER,
  /** The token of a statement is checked when the node gets it, not where it is applied. */
  FENCE_CHECKED_ON_RECEIPT,
  /** A new leader goes by when a lease was created. */
  NEW_LEADER_GIVES_NO_TIME,
  /** Entries are written with loss, and the node that proposed one applies what it meant. */
  LEADER_APPLIES_WHAT_IT_SENT,
  /** A renewal that ends a recorded silence is acknowledged, and not in the log. */
  RENEWAL_NOT_RECORDED,
  /** The commands of a group are applied in reverse. */
  QUEUE_NOT_FIFO,
  /** The driver counts its lease from the answer to a heartbeat, not from its sending. */
  LEASE_COUNTED_FROM_ANSWER,
  /** The driver says that it trusts its lease whether it does or not. */
  LEASE_ALWAYS_TRUSTED,
  /** A lock with permits is held once more than it has. */
  PERMIT_COUNTED_TWICE,
  /** A request for two locks gets the first. */
  SET_GRANTED_IN_PART,
  /** The lock of a transaction becomes one of its session: it outlives a rollback. */
  TRANSACTION_LOCK_OUTLIVES_ROLLBACK,
  /** A transaction ends with the connection of its session, whatever else its process has. */
  ONE_CONNECTION_IS_ALL,
  /** The transaction of a process that has left ends, though the process has come back. */
  RETURN_OF_PROCESS_IGNORED,
  /** A new leader ends the transactions of processes that have shown themselves in time. */
  NEW_LEADER_HEARS_NOBODY,
  /** A lock that is kept after its release is granted after half of the time. */
  KEEP_ENDS_EARLY,
  /** The driver sends a series again under a new number. */
  SERIES_UNDER_NEW_NUMBER,
  /** Of a series only the first statement is fenced. */
  SERIES_FENCED_BY_ITS_FIRST,
  /** A series that stops at a failure goes on. */
  SERIES_GOES_ON_AFTER_FAILURE,
  /** A series runs its statements, and does not commit. */
  SERIES_NOT_COMMITTED,
  /** The mark of a definition is written, and the definition forgotten. */
  MARK_WITHOUT_DEFINITION,
  /** A definition is carried out, and its mark forgotten. */
  DEFINITION_WITHOUT_MARK,
  /** The right to a lock is checked when a node gets the request, not where it is applied. */
  RIGHTS_CHECKED_ON_RECEIPT,
  /** The locks of a dropped user stay held. */
  DROPPED_USER_KEEPS_LOCKS,
  /** REVOKE of a right does nothing as long as a request of the user waits for such a lock. */
  REVOKE_SPARES_WAITS,
  /** A snapshot brings no rights back. */
  RIGHTS_FORGOTTEN,
  /** A snapshot brings users back without their work limits. */
  WORK_LIMITS_FORGOTTEN,
  /** A snapshot brings users back that are not locked and do not expire. */
  CLOSED_ACCOUNTS_FORGOTTEN,
  /** ALTER USER ... ACCOUNT LOCK does nothing. */
  LOCKED_USER_KEEPS_SESSIONS,
  /** A user may log in after it has expired. */
  EXPIRY_OF_USER_IGNORED,
  /** What one user is granted, every user may do. */
  GRANT_COUNTS_FOR_ALL,
  /** A leader raises the feature level, whatever the other members know. */
  LEVEL_OF_MEMBERS_UNCHECKED,
  /** A leader proposes what it knows, whatever the feature level of the cluster is. */
  COMMAND_BEFORE_ITS_LEVEL,
  /** A snapshot brings the feature level back as the first one. */
  FEATURE_LEVEL_FORGOTTEN,
  /**
   * A row of a follower changes without an entry; only the digest of the replicas looks at rows.
   */
  ROW_CHANGES_BEHIND_ITS_BACK,
  /** A replica stamps what it applies with its own time. */
  LOCAL_TIME_WHILE_APPLYING,
  /** A leader stamps what its own clock says, whatever those of the others say. */
  LEADER_GOES_BY_ITS_CLOCK,
  /** The command that sets the time of the log back does nothing. */
  RESET_OF_TIME_IGNORED
}
