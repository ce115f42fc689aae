package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UserName;

/**
 * What a user may learn of a lock. A token is as good as the lock where a table is fenced, so only
 * a user with a right on the lock is told of it.
 */
final class LockInquiries {
  private final LockTable locks;
  private final Rights rights;

  LockInquiries(LockTable locks, Rights rights) {
    this.locks = requireNonNull(locks, "locks");
    this.rights = requireNonNull(rights, "rights");
  }

  /** Answers whether a lease holds the lock under this token, exclusively or shared. */
  Outcome holdsLock(UserName user, LockName lock, long token) {
    Outcome.Refused refused = rights.inspect(user, lock);
    return refused == null ? new Outcome.Answered(locks.isHeldUnder(lock, token)) : refused;
  }

  /** Answers with the token of the oldest exclusive hold, or that there is none. */
  Outcome lockToken(UserName user, LockName lock) {
    Outcome.Refused refused = rights.inspect(user, lock);
    if (refused != null) {
      return refused;
    }
    Hold hold = locks.exclusiveHold(lock);
    return hold == null ? new Outcome.NotGranted() : new Outcome.Granted(hold.token());
  }
}
