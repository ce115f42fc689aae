package dev.tollgate.node.replica;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Fence;
import dev.tollgate.core.Lease;
import dev.tollgate.core.Lock;
import dev.tollgate.core.Session;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a user sees in the views of schema TOLLGATE. An administrator sees everything, and a user
 * with AUDIT ON CLUSTER everything but the tokens of locks. A user with MANAGE ON LOCKS sees all
 * locks and leases. Other users see their own sessions, leases and transactions, and the locks that
 * they may acquire.
 */
final class Visibility {
  private final UserName user;
  private final boolean tokens;
  private final boolean all;
  private final boolean leases;
  private final List<Right> rights;
  private final Set<SessionId> sessions;

  /**
   * @param tokens of all locks are shown
   * @param all everything but tokens is shown
   * @param leases of all users are shown
   */
  private Visibility(
      UserName user,
      boolean tokens,
      boolean all,
      boolean leases,
      List<Right> rights,
      Set<SessionId> sessions) {
    this.user = user;
    this.tokens = tokens;
    this.all = all;
    this.leases = leases;
    this.rights = rights;
    this.sessions = sessions;
  }

  static Visibility of(ClusterState state, UserName user) {
    boolean administers = state.isAdministrator(user);
    List<Right> rights = administers ? List.of() : state.rightsOf(user);
    boolean all = administers || has(rights, Right.Kind.AUDIT);
    return new Visibility(
        user,
        administers,
        all,
        all || has(rights, Right.Kind.MANAGE),
        rights,
        all
            ? Set.of()
            : state.sessions().stream()
                .filter(session -> session.user().equals(user))
                .map(Session::id)
                .collect(Collectors.toUnmodifiableSet()));
  }

  private static boolean has(List<Right> rights, Right.Kind kind) {
    return rights.stream().anyMatch(right -> right.kind() == kind);
  }

  /** True for an administrator and an auditor. */
  boolean all() {
    return all;
  }

  boolean shows(Session session) {
    return shows(session.user());
  }

  boolean shows(SessionId session) {
    return all || sessions.contains(session);
  }

  boolean shows(Lease lease) {
    return leases || shows(lease.user());
  }

  boolean shows(UserName name) {
    return all || name.equals(user);
  }

  boolean shows(Lock lock) {
    return shows(lock.name());
  }

  boolean shows(LockName lock) {
    return all || showsToken(lock);
  }

  /** True if the tokens of the lock may be shown. */
  boolean showsToken(LockName lock) {
    return tokens || rights.stream().anyMatch(right -> right.isOn(lock));
  }

  /** True if the tokens of the fence may be shown. */
  boolean shows(Fence fence) {
    LockName lock = fence.lock();
    return lock == null ? tokens : showsToken(lock);
  }

  boolean shows(Right right) {
    return all || rights.contains(right);
  }
}
