package dev.tollgate.core;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The lease and lock operations of sessions, and what ends with a lease: its locks, its waits, and
 * what its session believed to hold.
 */
final class Locking {
  private final CurrentCommand current;
  private final SessionTable sessions;
  private final LeaseTable leases;
  private final LockTable locks;

  Locking(ReplicatedState state) {
    this.current = state.current();
    this.sessions = state.sessions();
    this.leases = state.leases();
    this.locks = state.locks();
  }

  Outcome createLease(Session session, Operation.CreateLease operation) {
    Outcome.Refused full = leases.full();
    if (full != null) {
      return full;
    }
    Lease lease =
        leases.create(
            operation.owner(),
            operation.ttlMillis(),
            current.nowMicros(),
            session.id(),
            /* own= */ false);
    current.tell(new Notice.LeaseStarted(lease.id(), lease.ttlMillis(), null));
    return new Outcome.LeaseCreated(lease.id());
  }

  Outcome revokeLease(Operation.RevokeLease operation) {
    Lease lease = leases.find(operation.lease());
    if (lease != null) {
      endLease(lease);
    } else if (!leases.existed(operation.lease())) {
      return leaseGone(operation.lease());
    }
    return new Outcome.Answered(lease != null);
  }

  /** Grants the lock, refuses it, or lets the session's request stand in the queue. */
  Outcome acquire(Session session, Operation.AcquireLock operation) {
    LeaseId stated = operation.lease();
    Lease lease = stated == null ? session.ownLease() : leases.find(stated);
    if (lease == null) {
      if (stated != null) {
        return leaseGone(stated);
      }
      Outcome.Refused lost = session.takeLoss();
      Outcome.Refused refused = lost == null ? leases.full() : lost;
      if (refused != null) {
        return refused;
      }
      lease = createOwnLease(session);
    }
    if (stated == null) {
      session.forgetTaken(operation.lock());
    }
    return locks.acquire(
        operation.lock(),
        lease,
        operation.mode(),
        operation.waitMillis(),
        new RequestId(session.id(), session.lastSequence()),
        current.nowMicros());
  }

  Outcome release(Session session, Operation.ReleaseLock operation) {
    LeaseId stated = operation.lease();
    Lease lease = stated == null ? session.ownLease() : leases.find(stated);
    if (lease == null) {
      Outcome.Refused lost = stated == null ? session.takeLoss() : leaseGone(stated);
      return lost == null ? new Outcome.Answered(false) : lost;
    }
    if (stated == null) {
      session.forgetTaken(operation.lock());
    }
    return new Outcome.Answered(locks.release(operation.lock(), lease, current.nowMicros()));
  }

  Outcome forceRelease(Operation.ForceReleaseLock operation) {
    LockName name = operation.lock();
    Lock lock = locks.find(name);
    if (lock != null) {
      Hold first = lock.holds().get(0);
      current.tell(
          new Notice.LockTaken(name, first.lease().id(), first.token(), lock.holds().size()));
      for (Hold hold : lock.holds()) {
        Session holder = ownerOf(hold.lease());
        if (holder != null) {
          holder.lockTaken(name);
        }
      }
    }
    return new Outcome.Answered(locks.forceRelease(name, current.nowMicros()));
  }

  /** Removes the session's request from its lock's queue; returns false if it does not wait. */
  boolean endWait(Session session, Outcome end) {
    LockName awaited = session.awaited();
    RequestId request = new RequestId(session.id(), session.lastSequence());
    return awaited != null && locks.endWait(awaited, request, end, current.nowMicros());
  }

  /** Ends the session's own lease; returns false if the session has none. */
  boolean endOwnLease(Session session) {
    Lease own = session.ownLease();
    if (own != null) {
      endLease(own);
    }
    return own != null;
  }

  /** Ends a lease, hands its locks on, and records the loss for its session. */
  void endLease(Lease lease) {
    Session owner = ownerOf(lease);
    if (owner != null) {
      owner.ownLeaseEnded(List.copyOf(lease.held()));
    }
    locks.endOf(lease, current.nowMicros());
    leases.remove(lease);
    current.tell(new Notice.LeaseEnded(lease.id()));
  }

  /** The session whose own lease this is, or null if it is no session's own lease. */
  private @Nullable Session ownerOf(Lease lease) {
    SessionId creator = lease.creator();
    return lease.isOwn() && creator != null ? sessions.find(creator) : null;
  }

  private Lease createOwnLease(Session session) {
    ClientInfo client = session.client();
    Lease lease =
        leases.create(
            client.application(),
            session.leaseTtlMillis(),
            current.nowMicros(),
            session.id(),
            /* own= */ true);
    session.setOwnLease(lease);
    current.tell(new Notice.LeaseStarted(lease.id(), lease.ttlMillis(), session.id()));
    return lease;
  }

  private Outcome.Refused leaseGone(LeaseId id) {
    return new Outcome.Refused(
        RefusalCode.LEASE_GONE,
        leases.existed(id)
            ? "lease " + id + " has expired or was revoked, and its locks are released"
            : "lease " + id + " was never created");
  }
}
