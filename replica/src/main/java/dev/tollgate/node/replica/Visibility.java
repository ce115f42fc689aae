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
 * What a user sees in the views of schema TOLLGATE. An administrator sees everything. Other users
 * see their own sessions, leases and transactions, and the locks that they may acquire.
 */
final class Visibility {
  private final UserName user;
  private final boolean all;
  private final List<Right> rights;
  private final Set<SessionId> sessions;

  private Visibility(UserName user, boolean all, List<Right> rights, Set<SessionId> sessions) {
    this.user = user;
    this.all = all;
    this.rights = rights;
    this.sessions = sessions;
  }

  static Visibility of(ClusterState state, UserName user) {
    boolean all = state.isAdministrator(user);
    return new Visibility(
        user,
        all,
        all ? List.of() : state.rightsOf(user),
        all
            ? Set.of()
            : state.sessions().stream()
                .filter(session -> session.user().equals(user))
                .map(Session::id)
                .collect(Collectors.toUnmodifiableSet()));
  }

  /** True for an administrator. */
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
    return shows(lease.user());
  }

  boolean shows(UserName name) {
    return all || name.equals(user);
  }

  boolean shows(Lock lock) {
    return shows(lock.name());
  }

  boolean shows(LockName lock) {
    return all
        || rights.stream()
            .anyMatch(right -> right.kind() != Right.Kind.SEQUENCE && right.covers(lock));
  }

  /** True if the tokens of the fence may be shown. */
  boolean shows(Fence fence) {
    LockName lock = fence.lock();
    return all || (lock != null && shows(lock));
  }

  boolean shows(Right right) {
    return all || rights.contains(right);
  }
}
