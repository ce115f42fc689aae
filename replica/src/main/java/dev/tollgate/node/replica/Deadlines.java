package dev.tollgate.node.replica;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Lease;
import dev.tollgate.core.Lock;
import dev.tollgate.core.Session;
import dev.tollgate.core.Waiter;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What ends if nothing is heard of it, and when: sessions, leases, waits and transactions. Follows
 * the replicated state by its notices. All times are those of one {@link LeaseClock}. Not
 * thread-safe.
 */
final class Deadlines {
  /** What has run out, each reported once. */
  record Due(
      List<SessionId> sessions,
      List<LeaseId> leases,
      List<RequestId> waits,
      List<Command> transactions,
      List<Command.SilentLease> silentLeases) {}

  private final DeadlineQueue<LeaseId> leases = new DeadlineQueue<>();
  private final DeadlineQueue<SessionId> sessions = new DeadlineQueue<>();
  private final DeadlineQueue<RequestId> waits = new DeadlineQueue<>();
  private final TransactionClock transactions = new TransactionClock();
  private final LeaseSilences silences;
  private final Map<SessionId, LeaseId> ownLeases = new HashMap<>();

  /** Leases that keep a lock: no client renews them. */
  private final Set<LeaseId> keeping = new HashSet<>();

  /**
   * @param alone whether this node is the whole cluster
   */
  Deadlines(BooleanSupplier alone) {
    silences = new LeaseSilences(alone);
  }

  /** Starts anew with this state: everything has its full time, or what the log says is left. */
  void begin(ClusterState state, long now) {
    clear();
    for (Session session : state.sessions()) {
      sessions.add(session.id(), nanos(session.ttlMillis()), now);
      Lease own = session.ownLease();
      if (own != null) {
        ownLeases.put(session.id(), own.id());
      }
    }
    for (Session session : state.sessions()) {
      if (session.isBlocked()) {
        RequestId blocked = new RequestId(session.id(), session.lastSequence());
        waits.add(blocked, nanos(session.lockTimeoutMillis()), now);
      }
    }
    for (Lease lease : state.leases()) {
      if (lease.kind() == LeaseKind.TRANSACTION || lease.kind() == LeaseKind.STATEMENT) {
        continue;
      }
      leases.add(lease.id(), nanos(lease.ttlMillis()), nanos(lease.remainingMillis()), now);
      silences.add(lease, now);
      if (lease.kind() == LeaseKind.KEEP) {
        keeping.add(lease.id());
      }
    }
    for (Lock lock : state.locks()) {
      for (Waiter waiter : lock.waiters()) {
        waits.add(waiter.request(), nanos(waiter.waitMillis()), now);
      }
    }
    transactions.begin(
        sessionsOfProcesses(state), state.transactions(), state.transactionLimits(), now);
  }

  /** A client that does not name its process is never known to be gone. */
  private static List<SessionId> sessionsOfProcesses(ClusterState state) {
    List<SessionId> named = new ArrayList<>();
    for (Session session : state.sessions()) {
      if (!session.client().process().isEmpty()) {
        named.add(session.id());
      }
    }
    return named;
  }

  void noticed(Notice notice, long now) {
    if (notice instanceof Notice.SessionStarted started) {
      sessions.add(started.session(), nanos(started.ttlMillis()), now);
    } else if (notice instanceof Notice.SessionEnded ended) {
      sessions.remove(ended.session());
      ownLeases.remove(ended.session());
      transactions.sessionEnded(ended.session());
    } else if (notice instanceof Notice.LeaseStarted started) {
      leases.add(started.lease(), nanos(started.ttlMillis()), now);
      if (started.kind() == LeaseKind.KEEP) {
        keeping.add(started.lease());
        silences.addNew(started.lease(), started.ttlMillis(), now);
      }
      SessionId owner = started.renewedWith();
      if (owner != null) {
        ownLeases.put(owner, started.lease());
      }
    } else if (notice instanceof Notice.LeaseEnded ended) {
      leases.remove(ended.lease());
      silences.remove(ended.lease());
      keeping.remove(ended.lease());
    } else if (notice instanceof Notice.WaitStarted started) {
      RequestId wait = new RequestId(started.session(), started.sequence());
      waits.add(wait, nanos(started.waitMillis()), now);
    } else if (notice instanceof Notice.TransactionUsed used) {
      transactions.noteUse(used.session(), used.transaction(), now);
    } else if (notice instanceof Notice.TransactionEnded ended) {
      transactions.ended(ended.transaction());
    } else if (notice instanceof Notice.TransactionsLimited limited) {
      transactions.limit(limited.limits());
    } else if (notice instanceof Notice.Completed completed) {
      waits.remove(new RequestId(completed.session(), completed.sequence()));
    }
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Puts off the ends of a session and of its own lease. */
  TimeKeeper.Renewal renew(SessionId session, long arrivalNanos) {
    LeaseId own = ownLeases.get(session);
    boolean ownEnds =
        own != null
            && !leases.putOff(own, arrivalNanos)
            && leases.remaining(own, arrivalNanos) != null;
    if (!sessions.putOff(session, arrivalNanos)) {
      return TimeKeeper.Renewal.GONE;
    }
    transactions.returned(session, arrivalNanos);
    if (ownEnds) {
      return TimeKeeper.Renewal.WITHOUT_OWN_LEASE;
    }
    return own != null && silences.heard(own)
        ? TimeKeeper.Renewal.NOT_YET
        : TimeKeeper.Renewal.RENEWED;
  }

  /** Puts off the end of a lease. */
  TimeKeeper.Renewal renew(LeaseId lease, long arrivalNanos) {
    if (keeping.contains(lease) || !leases.putOff(lease, arrivalNanos)) {
      return TimeKeeper.Renewal.GONE;
    }
    return silences.heard(lease) ? TimeKeeper.Renewal.NOT_YET : TimeKeeper.Renewal.RENEWED;
  }

  /** Returns what to propose before the session counts as renewed, or null if that is under way. */
  Command.@Nullable RecordRenewal endOfSilence(SessionId session) {
    LeaseId own = ownLeases.get(session);
    return own == null ? null : silences.end(own);
  }

  /** Returns what to propose before the lease counts as renewed, or null if that is under way. */
  Command.@Nullable RecordRenewal endOfSilence(LeaseId lease) {
    return silences.end(lease);
  }

  /**
   * Records what became of a proposal.
   *
   * @param applied false if that is unknown
   */
  void silenceEnded(Command.RecordRenewal proposal, boolean applied) {
    silences.ended(proposal, applied);
  }

  /** Records that the session has read in its transaction. */
  void noteUse(SessionId session, long now) {
    transactions.noteUse(session, now);
  }

  /** Records that the processes of these sessions have left this node. */
  void left(Iterable<SessionId> all, long leavingNanos) {
    for (SessionId session : all) {
      if (sessions.remaining(session, leavingNanos) != null) {
        transactions.left(session, leavingNanos);
      }
    }
  }

  /** Records a sign of life of the process of a session. */
  void returned(SessionId session, long arrivalNanos) {
    transactions.returned(session, arrivalNanos);
  }

  /** Records whether a snapshot waits for a moment without transactions. */
  void gapNeeded(boolean needed, long now) {
    transactions.gapNeeded(needed, now);
  }

  /** Nanoseconds that a lease has left, or null if it is not known here. */
  @Nullable Long remaining(LeaseId lease, long now) {
    return leases.remaining(lease, now);
  }

  /**
   * Returns what the leases have left that are known here.
   *
   * @param recordedRenewals the count of each lease in the replicated state
   */
  List<Command.SilentLease> remaining(Map<LeaseId, Long> recordedRenewals, long now) {
    List<Command.SilentLease> all = new ArrayList<>();
    recordedRenewals.forEach(
        (lease, renewals) -> {
          Long left = leases.remaining(lease, now);
          if (left != null && left > 0) {
            all.add(LeaseSilences.record(lease, renewals, left));
          }
        });
    return all;
  }

  /**
   * Returns what has run out.
   *
   * @param connected whether the process of a session is connected to this node
   */
  Due removeDue(long now, Predicate<SessionId> connected) {
    return new Due(
        sessions.removeDue(now),
        leases.removeDue(now),
        waits.removeDue(now),
        transactions.removeDue(now, connected),
        silences.removeDue(now, lease -> leases.remaining(lease, now)));
  }

  /** Takes back the report of a session that could not be handled. */
  void reportAgain(SessionId session, long now) {
    sessions.reportAgain(session, now);
  }

  /** Takes back the report of a lease that could not be handled. */
  void reportAgain(LeaseId lease, long now) {
    leases.reportAgain(lease, now);
  }

  /** Takes back the report of a wait that could not be handled. */
  void reportAgain(RequestId wait, long now) {
    waits.reportAgain(wait, now);
  }

  boolean isEmpty() {
    return leases.isEmpty() && sessions.isEmpty() && waits.isEmpty() && transactions.isEmpty();
  }

  void clear() {
    leases.clear();
    sessions.clear();
    waits.clear();
    transactions.clear();
    ownLeases.clear();
    keeping.clear();
    silences.clear();
  }
}
