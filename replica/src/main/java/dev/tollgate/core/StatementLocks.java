package dev.tollgate.core;

import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RequestId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Locks that end with what took them: those of a transaction with the transaction, that of a LOCKED
 * BY statement with the statement. They are held by leases that no client can use, so they can be
 * taken away only by force.
 *
 * <p>A LOCKED BY statement holds nothing while it waits: if it needs a row of an open transaction
 * too, it gives its lock back and asks for it again afterwards. So such a statement is never part
 * of a deadlock.
 */
final class StatementLocks {
  private final CurrentCommand current;
  private final LeaseTable leases;
  private final LockTable locks;
  private final LockGrants grants;
  private final Rights rights;

  StatementLocks(ReplicatedState state, Rights rights) {
    this.current = state.current();
    this.leases = state.leases();
    this.locks = state.locks();
    this.grants = state.grants();
    this.rights = rights;
  }

  /** Grants a lock to the open transaction of a statement, or lets the statement wait for it. */
  Outcome acquire(
      PendingStatement statement,
      Operation.AcquireTransactionLock operation,
      Transaction transaction) {
    LockName name = operation.lock();
    Session session = statement.session();
    Outcome known = rights.acquire(session, List.of(name));
    known = known == null ? heldByOwnLease(session, name) : known;
    if (known != null) {
      return known;
    }
    Lease lease = transaction.lease();
    Outcome.Refused full = lease == null ? leases.full(session) : null;
    if (full != null) {
      return full;
    }
    if (lease == null) {
      lease = create(session, LeaseKind.TRANSACTION);
      transaction.setLease(lease);
    }
    return ask(statement, name, lease, operation.waitMillis());
  }

  /** Grants a lock to a LOCKED BY statement, or lets the statement wait for it. */
  Outcome take(PendingStatement statement, LockName name, boolean ownLeaseTrusted) {
    Session session = statement.session();
    Outcome known = rights.acquire(session, List.of(name));
    known = known == null ? heldByOwnLease(session, name) : known;
    if (known instanceof Outcome.Granted && !ownLeaseTrusted) {
      return new Outcome.Refused(
          RefusalCode.LEASE_GONE,
          "the connection cannot prove that its lease is alive, which holds lock '"
              + name
              + "': try again once the cluster answers");
    }
    if (known != null) {
      return known;
    }
    Lease lease = statement.lease();
    Outcome.Refused full = lease == null ? leases.full(session) : null;
    if (full != null) {
      return full;
    }
    if (lease == null) {
      lease = create(session, LeaseKind.STATEMENT);
      statement.setLease(lease);
    }
    return ask(statement, name, lease, session.lockTimeoutMillis());
  }

  private Outcome ask(PendingStatement statement, LockName name, Lease lease, long waitMillis) {
    return grants.acquire(
        name, lease, LockMode.EXCLUSIVE, waitMillis, statement.request(), current.nowMicros());
  }

  /**
   * The outcome for a session whose own lease holds the lock; null if the lease does not. The lock
   * stays with the lease.
   */
  private @Nullable Outcome heldByOwnLease(Session session, LockName name) {
    Lease own = session.ownLease();
    Lock lock = locks.find(name);
    Hold hold = own == null || lock == null ? null : lock.holdOf(own);
    if (lock == null || hold == null) {
      return null;
    }
    return lock.mode() == LockMode.SHARED
        ? new Outcome.Refused(
            RefusalCode.LOCK_UPGRADE,
            "the connection holds lock '"
                + name
                + "' shared and asks for it exclusively: release it first")
        : new Outcome.Granted(hold.token());
  }

  private Lease create(Session session, LeaseKind kind) {
    return leases.create(session.client().application(), 1, current.nowMicros(), session, kind);
  }

  /** Releases the lock of a LOCKED BY statement, or gives up its place in the queue. */
  void giveBack(PendingStatement statement) {
    Lease lease = statement.lease();
    if (lease != null) {
      leaveQueue(statement);
      statement.setLease(null);
      end(lease);
    }
  }

  /** Ends the wait of a session for locks of a lease; false if the session does not wait so. */
  boolean endWait(Session session, Outcome end) {
    LockName awaited = session.awaited();
    RequestId request = new RequestId(session.id(), session.lastSequence());
    return awaited != null && grants.endWait(awaited, request, end, current.nowMicros());
  }

  /** Removes a statement from the queue of the lock that it waits for, if it does. */
  void leaveQueue(PendingStatement statement) {
    LockName awaited = statement.awaitedLock();
    if (awaited != null) {
      grants.withdraw(awaited, statement.request(), current.nowMicros());
    }
  }

  /** Releases the locks of a transaction that has ended. */
  void release(Transaction transaction) {
    Lease lease = transaction.lease();
    if (lease != null) {
      end(lease);
    }
  }

  private void end(Lease lease) {
    grants.endOf(lease, current.nowMicros());
    leases.remove(lease);
  }
}
