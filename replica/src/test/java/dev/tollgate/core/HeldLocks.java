package dev.tollgate.core;

import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UserName;
import org.jspecify.annotations.Nullable;

/** What a client learns of locks that may learn everything. */
public final class HeldLocks {
  private HeldLocks() {}

  public static @Nullable FencingToken lockToken(ClusterState state, LockName lock) {
    return state.lockToken(UserName.ANONYMOUS, lock) instanceof Outcome.Granted granted
        ? granted.token()
        : null;
  }

  public static boolean holdsLock(ClusterState state, LockName lock, long token) {
    return state.holdsLock(UserName.ANONYMOUS, lock, token).equals(new Outcome.Answered(true));
  }
}
