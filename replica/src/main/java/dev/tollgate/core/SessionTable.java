package dev.tollgate.core;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The open sessions, in order of opening. */
final class SessionTable {
  private final Map<SessionId, Session> sessions = new LinkedHashMap<>();
  private final int most;
  private final UserShares shares;
  private final KeptAnswers answers;
  private long lastId;

  SessionTable(Capacity capacity) {
    most = capacity.sessions();
    shares = new UserShares(capacity.sessionsPerUser(), "open sessions");
    answers = new KeptAnswers(capacity.answerBytes());
  }

  /** Why the user cannot open a further session, or null. */
  Outcome.@Nullable Refused full(UserName user) {
    String instead = "close connections that are not needed; view TOLLGATE.SESSIONS names them";
    return sessions.size() < most
        ? shares.full(user, 1, instead)
        : Capacity.exceeded("the number of open sessions is", most, instead);
  }

  Session open(Command.OpenSession opening, long nowMicros) {
    Session session = new Session(answers, new SessionId(++lastId), opening, nowMicros);
    sessions.put(session.id(), session);
    shares.add(session.user());
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
    shares.remove(session.user());
    session.forgetAnswer();
  }

  long lastId() {
    return lastId;
  }

  void restoreLastId(long id) {
    lastId = id;
  }

  void restore(StateRecord.SessionState state, LeaseTable leases) {
    LeaseId own = state.ownLease();
    Session session = new Session(answers, state, own == null ? null : leases.existing(own));
    sessions.put(state.id(), session);
    shares.add(session.user());
  }

  Collection<Session> all() {
    return Collections.unmodifiableCollection(sessions.values());
  }

  void checkInvariants(LeaseTable leases, LockTable locks) {
    answers.checkInvariants(this);
    List<UserName> users = new ArrayList<>(sessions.size());
    sessions.values().forEach(session -> users.add(session.user()));
    shares.checkInvariants(users);
    for (Session session : sessions.values()) {
      Lease own = session.ownLease();
      if (own != null && leases.find(own.id()) != own) {
        throw new IllegalStateException("session " + session.id() + " has a lease that ended");
      }
      LockName awaited = session.awaited();
      if (awaited != null) {
        Lock lock = locks.find(awaited);
        RequestId request = new RequestId(session.id(), session.lastSequence());
        if (lock == null || lock.waiterOf(request) == null) {
          throw new IllegalStateException(
              "I6: session " + session.id() + " waits for '" + awaited + "' in no queue");
        }
      }
    }
  }
}
