package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import java.util.Collection;
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
  private final LockGrants grants;
  private final Rights rights;
  private final EventRecorder audit;

  Locking(ReplicatedState state, Rights rights) {
    this.current = state.current();
    this.sessions = state.sessions();
    this.leases = state.leases();
    this.locks = state.locks();
    this.grants = state.grants();
    this.rights = rights;
    this.audit = state.audit();
  }

  Outcome createLease(Session session, Operation.CreateLease operation) {
    Outcome.Refused full = leases.full(session);
    if (full != null) {
      return full;
    }
    Lease lease =
        leases.create(
            operation.owner(),
            operation.ttlMillis(),
            current.nowMicros(),
            session,
            LeaseKind.CLIENT);
    current.tell(new Notice.LeaseStarted(lease.id(), lease.ttlMillis(), LeaseKind.CLIENT, null));
    return new Outcome.LeaseCreated(lease.id());
  }

  Outcome revokeLease(Session session, Operation.RevokeLease operation) {
    Lease lease = leases.find(operation.lease());
    if (lease == null) {
      return leases.existed(operation.lease())
          ? new Outcome.Answered(false)
          : leaseGone(operation.lease());
    }
    if (isOfNoClient(lease)) {
      return ofNoClient(lease);
    }
    Outcome.Refused refused = rights.use(session, lease);
    if (refused != null) {
      return refused;
    }
    audit.losing(lease, AuditEvent.LossReason.LEASE_REVOKED, session);
    endLease(lease);
    return new Outcome.Answered(true);
  }

  /** Grants the lock, refuses it, or lets the session's request stand in the queue. */
  Outcome acquire(Session session, Operation.AcquireLock operation) {
    Outcome.Refused forbidden = rights.acquire(session, List.of(operation.lock()));
    if (forbidden != null) {
      return forbidden;
    }
    Claim claim = claim(session, operation.lease(), /* create= */ true);
    Lease lease = claim.lease();
    if (lease == null) {
      return claim.refused();
    }
    if (operation.lease() == null) {
      session.forgetTaken(operation.lock());
    }
    Outcome.Refused refused = heldByTransaction(session, lease, List.of(operation.lock()));
    if (refused != null) {
      return refused;
    }
    return grants.acquire(
        operation.lock(),
        lease,
        operation.mode(),
        operation.waitMillis(),
        new RequestId(session.id(), session.lastSequence()),
        current.nowMicros());
  }

  /** Grants all of several locks, refuses them, or lets the session's request wait for them. */
  Outcome acquireAll(Session session, Operation.AcquireLocks operation) {
    Outcome.Refused forbidden = rights.acquire(session, operation.locks());
    if (forbidden != null) {
      return forbidden;
    }
    Claim claim = claim(session, operation.lease(), /* create= */ true);
    Lease lease = claim.lease();
    if (lease == null) {
      return claim.refused();
    }
    if (operation.lease() == null) {
      operation.locks().forEach(session::forgetTaken);
    }
    Outcome.Refused refused = heldByTransaction(session, lease, operation.locks());
    if (refused != null) {
      return refused;
    }
    return grants.acquireAll(
        operation.locks(),
        lease,
        operation.waitMillis(),
        new RequestId(session.id(), session.lastSequence()),
        current.nowMicros());
  }

  Outcome release(Session session, Operation.ReleaseLock operation) {
    LockName name = operation.lock();
    Claim claim = claim(session, operation.lease(), /* create= */ false);
    Lease lease = claim.lease();
    if (lease == null) {
      return claim.isOwnLeaseMissing() ? new Outcome.Answered(false) : claim.refused();
    }
    if (operation.lease() == null) {
      session.forgetTaken(name);
    }
    if (operation.keepMillis() == 0) {
      return new Outcome.Answered(grants.release(name, lease, current.nowMicros()));
    }
    Hold hold = locks.holdOf(name, lease);
    if (hold == null) {
      return new Outcome.Answered(false);
    }
    Outcome.Refused full = leases.full(session);
    if (full != null) {
      return full;
    }
    keep(session, name, hold, operation.keepMillis());
    return new Outcome.Answered(true);
  }

  /** Moves a released hold to a lease that nobody renews: what ends with it, others get. */
  private void keep(Session session, LockName name, Hold hold, long millis) {
    Lease lease =
        leases.create(hold.lease().owner(), millis, current.nowMicros(), session, LeaseKind.KEEP);
    grants.move(name, hold, lease, session.id(), current.nowMicros());
    current.tell(new Notice.LeaseStarted(lease.id(), millis, LeaseKind.KEEP, null));
  }

  /** Hands a lock over from one lease to another. */
  Outcome transfer(Session session, Operation.TransferLock operation) {
    LockName name = operation.lock();
    Outcome.Refused forbidden = rights.acquire(session, List.of(name));
    if (forbidden != null) {
      return forbidden;
    }
    Claim giving = claim(session, operation.from(), /* create= */ false);
    Lease from = giving.lease();
    if (from == null) {
      return giving.isOwnLeaseMissing() ? new Outcome.NotGranted() : giving.refused();
    }
    Hold hold = locks.holdOf(name, from);
    if (hold == null) {
      return new Outcome.NotGranted();
    }
    Claim taking = claim(session, operation.to(), /* create= */ true);
    Lease to = taking.lease();
    if (to == null) {
      return taking.refused();
    }
    if (locks.holdOf(name, to) != null) {
      return new Outcome.Refused(
          RefusalCode.LOCK_STATE,
          "lease " + to.id() + " holds lock '" + name + "' already: nothing was handed over");
    }
    Session owner = ownerOf(from);
    if (owner != null && owner != session) {
      owner.lockTaken(name);
    }
    return new Outcome.Granted(grants.move(name, hold, to, session.id(), current.nowMicros()));
  }

  Outcome forceRelease(Session session, Operation.ForceReleaseLock operation) {
    LockName name = operation.lock();
    Outcome.Refused forbidden = rights.force(session, name);
    if (forbidden != null) {
      return forbidden;
    }
    Lock lock = locks.find(name);
    Collection<Hold> taken = lock == null ? List.of() : lock.holds();
    audit.forced(session, name, taken);
    Hold first = lock == null ? null : lock.oldestHold();
    if (first == null) {
      return new Outcome.Answered(false);
    }
    current.tell(new Notice.LockTaken(name, first.lease().id(), first.token(), taken.size()));
    for (Hold hold : taken) {
      Session holder = ownerOf(hold.lease());
      if (holder != null) {
        holder.lockTaken(name);
      }
      if (hold.lease().kind() == LeaseKind.TRANSACTION) {
        loseForCommit(name, hold);
      }
    }
    grants.forceRelease(name, current.nowMicros());
    for (Hold hold : taken) {
      if (hold.onlyKeeps()) {
        endLease(hold.lease());
      }
    }
    return new Outcome.Answered(true);
  }

  /** A transaction from which a lock is taken cannot commit: the token is stale then. */
  private void loseForCommit(LockName name, Hold hold) {
    Transaction transaction = sessions.existing(hold.session()).transaction();
    if (transaction != null) {
      transaction.demanded(name, hold.token().value());
    }
  }

  /** Removes the session's request from its lock's queue; returns false if it does not wait. */
  boolean endWait(Session session, Outcome end) {
    LockName awaited = session.awaited();
    RequestId request = new RequestId(session.id(), session.lastSequence());
    return awaited != null && grants.endWait(awaited, request, end, current.nowMicros());
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
    grants.endOf(lease, current.nowMicros());
    leases.remove(lease);
    current.tell(new Notice.LeaseEnded(lease.id()));
  }

  /** The session whose own lease this is, or null if it is no session's own lease. */
  private @Nullable Session ownerOf(Lease lease) {
    SessionId creator = lease.creator();
    return lease.isOwn() && creator != null ? sessions.find(creator) : null;
  }

  /** The lease on whose behalf a session asks for something, or why there is none. */
  private record Claim(@Nullable Lease lease, Outcome.@Nullable Refused refusal) {
    static Claim refused(Outcome.Refused refusal) {
      return new Claim(null, refusal);
    }

    /** Returns true if the session has no own lease, and has lost none that it does not know of. */
    boolean isOwnLeaseMissing() {
      return lease == null && refusal == null;
    }

    Outcome.Refused refused() {
      return requireNonNull(refusal, "refusal");
    }
  }

  /**
   * Finds the lease that a request names.
   *
   * @param stated null for the session's own lease
   * @param create whether to create the own lease if the session has none
   */
  private Claim claim(Session session, @Nullable LeaseId stated, boolean create) {
    Lease lease = stated == null ? session.ownLease() : leases.find(stated);
    if (lease != null) {
      Outcome.Refused refused =
          isOfNoClient(lease) ? ofNoClient(lease) : rights.use(session, lease);
      return refused == null ? new Claim(lease, null) : Claim.refused(refused);
    }
    if (stated != null) {
      return Claim.refused(leaseGone(stated));
    }
    Outcome.Refused lost = session.takeLoss();
    Outcome.Refused refusal = lost == null && create ? leases.full(session) : lost;
    return refusal == null && create
        ? new Claim(createOwnLease(session), null)
        : new Claim(null, refusal);
  }

  private static boolean isOfNoClient(Lease lease) {
    return lease.kind() != LeaseKind.CLIENT && lease.kind() != LeaseKind.OWN;
  }

  private static Outcome.Refused ofNoClient(Lease lease) {
    return new Outcome.Refused(
        RefusalCode.LEASE_GONE,
        "lease "
            + lease.id()
            + (lease.kind() == LeaseKind.KEEP
                ? " keeps a lock from others after its release"
                : " belongs to a transaction or statement, and ends with it")
            + ": no client can use or end it, but force_release_lock takes locks from it");
  }

  /**
   * Refuses a lock to the own lease of a session whose transaction holds the lock: the session
   * would wait for itself.
   */
  private Outcome.@Nullable Refused heldByTransaction(
      Session session, Lease lease, List<LockName> names) {
    Transaction transaction = lease.isOwn() ? session.transaction() : null;
    Lease holder = transaction == null ? null : transaction.lease();
    if (holder == null) {
      return null;
    }
    for (LockName name : names) {
      if (locks.holdOf(name, holder) != null) {
        return new Outcome.Refused(
            RefusalCode.LOCK_STATE,
            "the transaction of this connection holds lock '"
                + name
                + "' until it ends: acquire the lock for longer before the transaction takes it, or"
                + " after the transaction");
      }
    }
    return null;
  }

  private Lease createOwnLease(Session session) {
    ClientInfo client = session.client();
    Lease lease =
        leases.create(
            client.application(),
            session.leaseTtlMillis(),
            current.nowMicros(),
            session,
            LeaseKind.OWN);
    session.setOwnLease(lease);
    current.tell(
        new Notice.LeaseStarted(lease.id(), lease.ttlMillis(), LeaseKind.OWN, session.id()));
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
