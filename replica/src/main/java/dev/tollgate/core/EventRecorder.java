package dev.tollgate.core;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects what auditors want to know of the current command, and counts for operators what happens
 * ({@link LockTallies}). It collects nothing until {@link #turnOn}: then only the counters change,
 * and nothing is allocated. None of it is a part of the state.
 */
final class EventRecorder {
  private static final AuditEvent.Result NOT_HELD =
      new AuditEvent.Result(AuditEvent.Result.Kind.LOCK_NOT_HELD, null);

  private final SessionTable sessions;
  private final LockTable locks;
  private @Nullable List<AuditEvent> events;
  private LockTallies tallies = new LockTallies(0);

  EventRecorder(SessionTable sessions, LockTable locks) {
    this.sessions = sessions;
    this.locks = locks;
  }

  void turnOn() {
    events = new ArrayList<>();
  }

  /** From now on counts there. */
  void countIn(LockTallies shared) {
    tallies = shared;
  }

  /** The counters. */
  LockTallies tallies() {
    return tallies;
  }

  /** Forgets the events of the last command. */
  void begin(long nowMicros) {
    tallies.begin(nowMicros);
    if (events != null) {
      events.clear();
    }
  }

  /** The events of the current command so far, in order. A live view that must not be kept. */
  List<AuditEvent> events() {
    return events == null ? List.of() : events;
  }

  void granted(
      LockName lock,
      Lease lease,
      LockMode mode,
      FencingToken token,
      SessionId session,
      AuditEvent.GrantWay way) {
    // nobody holds a lock that is only kept
    if (lease.kind() == LeaseKind.KEEP) {
      return;
    }
    tallies.granted(way);
    if (events != null) {
      events.add(
          new AuditEvent.LockGranted(
              party(session), lock, mode, token, lease.id(), lease.kind(), way));
    }
  }

  /** Records that a session takes a lock from these holders by force. */
  void forced(Session by, LockName lock, Collection<Hold> holds) {
    tallies.forced(holds.size());
    if (events == null) {
      return;
    }
    for (Hold hold : holds) {
      events.add(
          new AuditEvent.LockForced(
              party(by), party(hold.session()), lock, hold.token(), hold.lease().id()));
    }
    if (holds.isEmpty()) {
      events.add(
          new AuditEvent.Administered(party(by), "force_release_lock", lock.value(), NOT_HELD));
    }
  }

  /**
   * Records what a lease holds, before the lease ends against the will of its client.
   *
   * @param lease null if there is nothing to lose
   * @param by the session that ends the lease, or null
   */
  void losing(@Nullable Lease lease, AuditEvent.LossReason reason, @Nullable Session by) {
    if (lease == null || lease.kind() == LeaseKind.KEEP) {
      return;
    }
    tallies.lost(reason, lease.held().size());
    if (events == null) {
      return;
    }
    AuditEvent.Party ends = by == null ? AuditEvent.Party.NOBODY : party(by);
    for (LockName name : lease.held()) {
      Hold hold = locks.holdOf(name, lease);
      if (hold != null) {
        events.add(
            new AuditEvent.LockLost(
                ends, party(hold.session()), name, hold.token(), lease.id(), reason));
      }
    }
  }

  void refused(
      Session by,
      RefusalCode code,
      @Nullable TableName table,
      LockName lock,
      @Nullable Long token) {
    tallies.refusedWrite(table);
    if (events != null) {
      events.add(new AuditEvent.WriteRefused(party(by), code, table, lock, token));
    }
  }

  /** Records an act of administration with its outcome, and returns the outcome. */
  Outcome administered(Session by, String action, String object, Outcome outcome) {
    if (events != null) {
      events.add(
          new AuditEvent.Administered(party(by), action, object, AuditEvent.Result.of(outcome)));
    }
    return outcome;
  }

  /** Records that a statement has changed definitions or rights, or has failed to. */
  void defined(Session by, String sql, Outcome outcome) {
    if (events != null) {
      events.add(new AuditEvent.Defined(party(by), sql, AuditEvent.Result.of(outcome)));
    }
  }

  private static AuditEvent.Party party(Session session) {
    return new AuditEvent.Party(session.id(), session.user().value(), session.client());
  }

  private AuditEvent.Party party(SessionId id) {
    Session session = sessions.find(id);
    return session == null ? new AuditEvent.Party(id, null, null) : party(session);
  }
}
