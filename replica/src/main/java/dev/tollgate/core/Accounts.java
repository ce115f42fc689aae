package dev.tollgate.core;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Creates, alters and drops users, and grants and revokes rights. With a user that is dropped or
 * locked its sessions and leases end, and so do their locks and transactions. With a right end the
 * waits that need it.
 */
final class Accounts {
  /** What ends with a user or a right. */
  interface Endings {
    void endSession(Session session);

    void endLease(Lease lease);

    void endWait(Session session, Outcome end);

    /** Makes these endings before what they set free is handed on. */
    void together(Runnable endings);
  }

  private final CurrentCommand current;
  private final SessionTable sessions;
  private final LeaseTable leases;
  private final LockTable locks;
  private final Agreement agreement;
  private final UserTable users;
  private final RightTable granted;
  private final Rights rights;
  private final SqlStore store;
  private final Endings endings;

  Accounts(ReplicatedState state, Rights rights, SqlStore store, Endings endings) {
    this.current = state.current();
    this.sessions = state.sessions();
    this.leases = state.leases();
    this.locks = state.locks();
    this.agreement = state.agreement();
    this.users = state.users();
    this.granted = state.rights();
    this.rights = rights;
    this.store = store;
    this.endings = endings;
  }

  /** Why no such session may be opened, or null. */
  Outcome.@Nullable Refused unknown(Command.OpenSession opening) {
    UserName user = opening.user();
    UserAccount account = users.find(user);
    if (account != null && !opening.isOf(account)) {
      return new Outcome.Refused(
          RefusalCode.AUTHENTICATION_FAILED,
          "the logins of user "
              + user
              + " so far no longer count, because it was locked, created again, or given a password"
              + " with END SESSIONS: log in again");
    }
    String closed = account == null ? null : account.closed(current.nowMicros());
    if (closed != null) {
      return new Outcome.Refused(RefusalCode.AUTHENTICATION_FAILED, closed);
    }
    return users.isKnown(user)
        ? null
        : new Outcome.Refused(
            RefusalCode.AUTHENTICATION_FAILED,
            users.isEmpty()
                ? "the cluster has no users, so a session cannot be one of " + user
                : "the cluster has users: connect with user and password");
  }

  /** Creates the first user, unless there is one. */
  boolean createFirst(UserAccount administrator) {
    if (!users.isEmpty() || store.createUser(administrator.name()) != null) {
      return false;
    }
    created(administrator);
    endSessions(session -> true);
    return true;
  }

  Outcome create(Session session, Operation.CreateUser operation) {
    UserAccount account = operation.account();
    Outcome.Refused refused = rights.administer(session, "create users");
    refused = refused == null ? users.full() : refused;
    if (refused == null && users.isEmpty() && !isUsableAdministrator(account)) {
      refused =
          state(
              "the first user has to be an administrator with a password and without VALID UNTIL,"
                  + " because from then on clients without a user are refused: CREATE USER name"
                  + " PASSWORD '...' ADMIN");
    }
    if (refused != null) {
      return refused;
    }
    if (operation.lenient() && users.find(account.name()) != null) {
      return new Outcome.Answered(false);
    }
    boolean first = users.isEmpty();
    Outcome.SqlFailed failed = store.createUser(account.name());
    if (failed != null) {
      return failed;
    }
    created(account);
    if (first) {
      // they have no user; the session that has created the first user goes on
      endSessions(other -> !other.id().equals(session.id()));
    }
    return new Outcome.Answered(true);
  }

  private void endSessions(Predicate<Session> ending) {
    for (Session session : List.copyOf(sessions.all())) {
      if (ending.test(session)) {
        endings.endSession(session);
      }
    }
  }

  /** Ends waiting requests with this outcome, and then the sessions. */
  private void endSessions(Predicate<Session> ending, Outcome end) {
    // first the waits, because what ends with one session may be what another waits for
    for (Session session : List.copyOf(sessions.all())) {
      if (ending.test(session)) {
        endings.endWait(session, end);
      }
    }
    endSessions(ending);
  }

  private static List<String> newest(UserAccount account, int most) {
    List<String> verifiers = account.verifiers();
    return verifiers.subList(0, Math.min(most, verifiers.size()));
  }

  private static boolean isUsableAdministrator(UserAccount account) {
    return account.isLastingAdministrator() && !account.verifiers().isEmpty();
  }

  private void created(UserAccount account) {
    if (users.secret() == null) {
      RandomSeed seed = agreement.randomSeed();
      users.setSecret(new UniqueId(~seed.high(), ~seed.low()));
    }
    store.setAdministrator(account.name(), account.administrator());
    changed(account.numbered(users.nextNumber()));
  }

  Outcome alter(Session session, Operation.AlterUser operation) {
    UserName name = operation.user() == null ? session.user() : operation.user();
    boolean own = name.equals(session.user()) && operation.change().setsPassword();
    Outcome.Refused refused = own ? null : rights.administer(session, "alter users");
    if (refused != null) {
      return refused;
    }
    UserAccount account = users.find(name);
    if (account == null) {
      return operation.user() == null
          ? state("the session has no user whose password could be set: CREATE USER first")
          : notFound(name);
    }
    return switch (operation.change()) {
      case SET_PASSWORD -> altered(account.with(List.of(operation.password())));
      case SET_PASSWORD_AND_END_SESSIONS -> replacePassword(session, account, operation.password());
      case ADD_PASSWORD -> addPassword(account, operation.password());
      case DROP_OLD_PASSWORD -> altered(account.with(newest(account, 1)));
      case MAKE_ADMINISTRATOR -> setAdministrator(account, true);
      case MAKE_ORDINARY -> setAdministrator(account, false);
      case LIMIT_WORK -> altered(account.with(operation.workLimit()));
      case LOCK_ACCOUNT -> lock(session, account);
      case UNLOCK_ACCOUNT -> altered(account.locked(false));
      case LIMIT_VALIDITY -> limitValidity(account, operation.validUntilMicros());
    };
  }

  private Outcome replacePassword(Session session, UserAccount account, String verifier) {
    Outcome changed = altered(account.with(List.of(verifier)).numbered(users.nextNumber()));
    Outcome ended =
        new Outcome.Refused(
            RefusalCode.SESSION_GONE,
            "the password of user " + account.name() + " was changed with END SESSIONS");
    endings.together(
        () ->
            endSessions(
                other -> other.user().equals(account.name()) && !other.id().equals(session.id()),
                ended));
    return changed;
  }

  private Outcome lock(Session session, UserAccount account) {
    UserName name = account.name();
    if (name.equals(session.user())) {
      return state("user " + name + " cannot lock itself: connect as another administrator");
    }
    if (users.isLastAdministrator(account)) {
      return lastAdministrator(name);
    }
    Outcome altered = altered(account.locked(true).numbered(users.nextNumber()));
    endings.together(() -> endAllOf(name, "user " + name + " was locked"));
    return altered;
  }

  private Outcome limitValidity(UserAccount account, long untilMicros) {
    return untilMicros != UserAccount.ALWAYS && users.isLastAdministrator(account)
        ? lastAdministrator(account.name())
        : altered(account.validUntil(untilMicros));
  }

  private Outcome addPassword(UserAccount account, String verifier) {
    if (!account.isSaltedAlike(verifier)) {
      return state("the password of user " + account.name() + " was changed meanwhile: try again");
    }
    List<String> both = new ArrayList<>(List.of(verifier));
    both.addAll(newest(account, Limits.PASSWORDS_PER_USER - 1));
    return altered(account.with(both));
  }

  private Outcome setAdministrator(UserAccount account, boolean administers) {
    if (!administers && users.isLastAdministrator(account)) {
      return lastAdministrator(account.name());
    }
    store.setAdministrator(account.name(), administers);
    return altered(account.with(administers));
  }

  private Outcome altered(UserAccount account) {
    changed(account);
    return new Outcome.Answered(true);
  }

  private void changed(UserAccount account) {
    users.put(account);
    rights.definitionsChanged();
    current.tell(new Notice.UsersChanged());
  }

  Outcome drop(Session session, Operation.DropUser operation) {
    Outcome.Refused refused = rights.administer(session, "drop users");
    if (refused != null) {
      return refused;
    }
    UserName name = operation.user();
    UserAccount account = users.find(name);
    if (account == null) {
      return operation.lenient() ? new Outcome.Answered(false) : notFound(name);
    }
    if (name.equals(session.user())) {
      return state("user " + name + " cannot drop itself: connect as another administrator");
    }
    if (users.isLastAdministrator(account)) {
      return lastAdministrator(name);
    }
    Outcome.SqlFailed failed = store.dropUser(name);
    if (failed != null) {
      return failed;
    }
    users.remove(name);
    endings.together(() -> endAllOf(name, "user " + name + " was dropped"));
    rights.definitionsChanged();
    current.tell(new Notice.UsersChanged());
    return new Outcome.Answered(true);
  }

  private void endAllOf(UserName name, String why) {
    endSessions(
        session -> session.user().equals(name), new Outcome.Refused(RefusalCode.SESSION_GONE, why));
    for (Lease lease : List.copyOf(leases.all())) {
      if (lease.user().equals(name)) {
        endings.endLease(lease);
      }
    }
  }

  Outcome change(Session session, Operation.ChangeRight operation) {
    Outcome.Refused refused = rights.administer(session, "grant and revoke rights");
    if (refused != null) {
      return refused;
    }
    Right right = inSchema(session, operation.right());
    if (!operation.grant()) {
      boolean revoked = granted.remove(right);
      rights.revoked();
      tellIfOnAll(right);
      return new Outcome.Answered(revoked);
    }
    if (!store.hasGrantee(right.grantee())) {
      return new Outcome.SqlFailed(
          "90071", 90071, "User or role \"" + right.grantee() + "\" not found");
    }
    if (right.kind() == Right.Kind.SEQUENCE
        && !store.hasSequence(new TableName(right.schema(), right.object()))) {
      return new Outcome.SqlFailed("90036", 90036, "Sequence \"" + right.object() + "\" not found");
    }
    Outcome.Refused full = granted.has(right) ? null : granted.full();
    if (full != null) {
      return full;
    }
    granted.add(right);
    tellIfOnAll(right);
    return new Outcome.Answered(true);
  }

  /** Nodes know who has a right on everything of a kind. */
  private void tellIfOnAll(Right right) {
    if (right.kind().isOnAll()) {
      current.tell(new Notice.UsersChanged());
    }
  }

  /** A sequence without a schema is one of the session's schema. */
  private static Right inSchema(Session session, Right right) {
    return right.kind() == Right.Kind.SEQUENCE && "".equals(right.schema())
        ? new Right(right.kind(), session.schema(), right.object(), right.grantee())
        : right;
  }

  /**
   * Ends waits for locks that the waiting user may no longer acquire, if a right may have gone
   * since this was last done.
   *
   * @return false if no right may have gone
   */
  boolean endForbiddenWaits() {
    if (!rights.takeRevoked()) {
      return false;
    }
    if (!users.isEmpty()) {
      endings.together(() -> List.copyOf(sessions.all()).forEach(this::endIfForbidden));
    }
    return true;
  }

  private void endIfForbidden(Session session) {
    LockName awaited = session.awaited();
    Lock lock = awaited == null ? null : locks.find(awaited);
    Waiter waiter =
        lock == null ? null : lock.waiterOf(new RequestId(session.id(), session.lastSequence()));
    if (lock != null && waiter != null) {
      Outcome.Refused refused =
          rights.acquire(session, waiter.isForSeveral() ? waiter.together() : List.of(lock.name()));
      if (refused != null) {
        endings.endWait(session, refused);
      }
    }
  }

  private static Outcome.Refused lastAdministrator(UserName name) {
    return state(
        "user "
            + name
            + " is the last administrator that can log in at any time: make another user one first,"
            + " ALTER USER name ADMIN TRUE, without ACCOUNT LOCK and VALID UNTIL");
  }

  private static Outcome.Refused state(String message) {
    return new Outcome.Refused(RefusalCode.USER_STATE, message);
  }

  private static Outcome.SqlFailed notFound(UserName name) {
    return new Outcome.SqlFailed("90032", 90032, "User \"" + name + "\" not found");
  }
}
