package dev.tollgate.core;

import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.UserName;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the user of a session may do, at the log position of the current command. Each
 * question is answered with null, or with the refusal. Rights on tables and schemas are the
 * database's to check.
 */
final class Rights {
  private final CurrentCommand current;
  private final UserTable users;
  private final RightTable rights;
  private final SqlStore store;

  /** The roles of users and roles, as far as they were asked for since definitions changed. */
  private final SortedMap<String, SortedSet<String>> roles = new TreeMap<>();

  private boolean revoked;

  Rights(ReplicatedState state, SqlStore store) {
    this.current = state.current();
    this.users = state.users();
    this.rights = state.rights();
    this.store = store;
  }

  boolean isAdministrator(Session session) {
    return users.isAdministrator(session.user());
  }

  /** May the user do what only administrators may? */
  Outcome.@Nullable Refused administer(Session session, String what) {
    return isAdministrator(session)
        ? null
        : missing(
            "only an administrator may " + what + ", and user " + session.user() + " is none");
  }

  /** May the user acquire these locks, and write under their tokens? */
  Outcome.@Nullable Refused acquire(Session session, Collection<LockName> locks) {
    return checked(session, Right.Kind.LOCK, locks);
  }

  /** May the user take this lock from its holders? */
  Outcome.@Nullable Refused force(Session session, LockName lock) {
    return checked(session, Right.Kind.FORCE, List.of(lock));
  }

  /** May the user change how many leases can hold a lock at a time? */
  Outcome.@Nullable Refused defineLocks(Session session) {
    return managesLocks(session)
        ? null
        : missing(
            "only an administrator or a user with MANAGE ON LOCKS may define locks, and user "
                + session.user()
                + " is neither");
  }

  private boolean managesLocks(Session session) {
    return isAdministrator(session)
        || has(session.user().value(), right -> right.kind() == Right.Kind.MANAGE);
  }

  private Outcome.@Nullable Refused checked(
      Session session, Right.Kind kind, Collection<LockName> locks) {
    if (managesLocks(session)) {
      return null;
    }
    for (LockName lock : locks) {
      if (!has(session.user().value(), right -> right.kind() == kind && right.covers(lock))) {
        return missing(
            "user "
                + session.user()
                + " has no right "
                + kind
                + " on lock '"
                + lock
                + "': an administrator can GRANT "
                + kind
                + " ON '"
                + lock
                + "' TO "
                + session.user());
      }
    }
    return null;
  }

  /** May the user learn who holds this lock, and under which token? */
  Outcome.@Nullable Refused inspect(UserName user, LockName lock) {
    return users.isAdministrator(user) || has(user.value(), right -> right.isOn(lock))
        ? null
        : missing(
            "user "
                + user
                + " has no right on lock '"
                + lock
                + "', and so may not learn its token: an administrator can GRANT LOCK ON '"
                + lock
                + "' TO "
                + user);
  }

  /** See {@link SqlContext#workLimit}. */
  int workLimit(UserName user) {
    return users.workLimit(user);
  }

  /** May the user or role of this name draw numbers from this sequence by name? */
  boolean use(String grantee, TableName sequence) {
    return (UserName.isValid(grantee) && users.isAdministrator(new UserName(grantee)))
        || has(
            grantee,
            right ->
                right.kind() == Right.Kind.SEQUENCE
                    && sequence.name().equals(right.object())
                    && right.schema() != null
                    && right.schema().equals(sequence.schema()));
  }

  /** May the user request something on behalf of this lease, or end it? */
  Outcome.@Nullable Refused use(Session session, Lease lease) {
    return lease.user().equals(session.user()) || managesLocks(session)
        ? null
        : missing(
            "lease "
                + lease.id()
                + " is another user's: only that user, an administrator or a user with MANAGE ON"
                + " LOCKS can use it");
  }

  /** The rights that a user has, directly or through roles, in the order of {@link Right}. */
  List<Right> of(UserName user) {
    SortedSet<Right> all = new TreeSet<>(rights.of(user.value()));
    store.rolesOf(user.value()).forEach(role -> all.addAll(rights.of(role)));
    return List.copyOf(all);
  }

  private boolean has(String grantee, Predicate<Right> wanted) {
    for (String name : roles.computeIfAbsent(grantee, store::rolesOf)) {
      if (any(rights.of(name), wanted)) {
        return true;
      }
    }
    return any(rights.of(grantee), wanted);
  }

  private static boolean any(SortedSet<Right> granted, Predicate<Right> wanted) {
    for (Right right : granted) {
      if (wanted.test(right)) {
        return true;
      }
    }
    return false;
  }

  /** Users, roles or sequences have changed: rights of and on those that are gone are gone too. */
  void definitionsChanged() {
    if (rights.hasRightOnAll()) {
      // a role with such a right may have been granted, revoked or dropped
      current.tell(new Notice.UsersChanged());
    }
    roles.clear();
    revoked();
    rights.removeIf(
        right ->
            !store.hasGrantee(right.grantee())
                || (right.kind() == Right.Kind.SEQUENCE
                    && !store.hasSequence(new TableName(right.schema(), right.object()))));
  }

  /** Records that some user may have lost a right. */
  void revoked() {
    revoked = true;
  }

  /** Returns once whether some user may have lost a right. */
  boolean takeRevoked() {
    boolean taken = revoked;
    revoked = false;
    return taken;
  }

  private static Outcome.Refused missing(String message) {
    return new Outcome.Refused(RefusalCode.RIGHT_MISSING, message);
  }
}
