package dev.tollgate.core;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;

/**
 * How much the replicated state may hold. The same on every node of a cluster, because commands
 * beyond it are refused while they are applied. Only tests use numbers other than those of {@link
 * Limits}.
 *
 * @param sessions open sessions
 * @param sessionsPerUser open sessions of one user, and so its requests that wait
 * @param leases live leases
 * @param leasesPerUser live leases that sessions of one user have created
 * @param holds held locks, counted once for each lease that holds one
 * @param holdsPerUser the same of the leases of one user
 * @param transactionsPerUser open transactions of one user
 * @param holdersPerLock leases that may hold a lock in shared mode together
 * @param holdersPerLockAndUser the same of the leases of one user
 * @param waitersPerLock requests that may wait for one lock
 * @param waitersPerLockAndLease the same of one lease
 * @param lockDefinitions locks with a definition of their own
 * @param waitingStatements statements that may wait for transactions to end
 * @param waitingStatementsPerUser the same of one user
 * @param waitingBytes bytes of the parameters and texts of waiting statements
 * @param waitingBytesPerUser the same of one user
 * @param answerBytes bytes of the last answers that all sessions keep
 */
public record Capacity(
    int sessions,
    int sessionsPerUser,
    int leases,
    int leasesPerUser,
    int holds,
    int holdsPerUser,
    int transactionsPerUser,
    int holdersPerLock,
    int holdersPerLockAndUser,
    int waitersPerLock,
    int waitersPerLockAndLease,
    int lockDefinitions,
    int waitingStatements,
    int waitingStatementsPerUser,
    long waitingBytes,
    long waitingBytesPerUser,
    long answerBytes) {
  /** The capacity of every cluster. */
  public static final Capacity STANDARD =
      new Capacity(
          Limits.SESSIONS,
          Limits.SESSIONS_PER_USER,
          Limits.LEASES,
          Limits.LEASES_PER_USER,
          Limits.HELD_LOCKS,
          Limits.HELD_LOCKS_PER_USER,
          Limits.TRANSACTIONS_PER_USER,
          Limits.HOLDERS_PER_LOCK,
          Limits.HOLDERS_PER_LOCK_AND_USER,
          Limits.WAITERS_PER_LOCK,
          Limits.WAITERS_PER_LOCK_AND_LEASE,
          Limits.LOCK_DEFINITIONS,
          Limits.WAITING_STATEMENTS,
          Limits.WAITING_STATEMENTS_PER_USER,
          Limits.WAITING_STATEMENT_BYTES,
          Limits.WAITING_STATEMENT_BYTES_PER_USER,
          Limits.KEPT_ANSWER_BYTES);

  /** Refuses a request that would exceed one of these numbers. */
  static Outcome.Refused exceeded(String what, long most, String instead) {
    return new Outcome.Refused(
        RefusalCode.LIMIT_REACHED, what + " " + most + ", as many as may be: " + instead);
  }
}
