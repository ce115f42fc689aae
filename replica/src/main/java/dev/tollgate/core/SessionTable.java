package dev.tollgate.core;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The open sessions, in order of opening. */
final class SessionTable {
  private final Map<SessionId, Session> sessions = new LinkedHashMap<>();
  private long lastId;

  Session open(Command.OpenSession opening, long nowMicros) {
    Session session = new Session(new SessionId(++lastId), opening, nowMicros);
    sessions.put(session.id(), session);
    return session;
  }

  @Nullable Session find(SessionId id) {
    return sessions.get(id);
  }

  Session existing(SessionId id) {
    Session session = sessions.get(id);
    if (session == null) {
      throw new IllegalStateException("no session " + id);
    }
    return session;
  }

  void remove(Session session) {
    if (sessions.remove(session.id()) == null) {
      throw new IllegalStateException("no session " + session.id());
    }
  }

  long lastId() {
    return lastId;
  }

  void restoreLastId(long id) {
    lastId = id;
  }

  void restore(StateRecord.SessionState state, LeaseTable leases) {
    LeaseId own = state.ownLease();
    sessions.put(state.id(), new Session(state, own == null ? null : leases.existing(own)));
  }

  Collection<Session> all() {
    return Collections.unmodifiableCollection(sessions.values());
  }

  void checkInvariants(LeaseTable leases, LockTable locks) {
    for (Session session : sessions.values()) {
      Lease own = session.ownLease();
      if (own != null && leases.find(own.id()) != own) {
        throw new IllegalStateException("session " + session.id() + " has a lease that ended");
      }
      LockName awaited = session.awaited();
      if (awaited != null) {
        Lock lock = locks.find(awaited);
        RequestId request = new RequestId(session.id(), session.lastSequence());
        if (lock == null || !lock.hasWaiter(request)) {
          throw new IllegalStateException(
              "I6: session " + session.id() + " waits for '" + awaited + "' in no queue");
        }
      }
    }
  }
}
