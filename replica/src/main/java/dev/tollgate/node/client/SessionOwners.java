package dev.tollgate.node.client;

import dev.tollgate.core.command.SessionId;
import org.jspecify.annotations.Nullable;

/** Knows which user a session belongs to. Thread-safe; called on event loops, so must not wait. */
@FunctionalInterface
public interface SessionOwners {
  /**
   * True if a connection of this user may use the session.
   *
   * @param user null for a connection that did not have to log in
   * @param session a session that this node knows
   */
  boolean mayUse(@Nullable String user, SessionId session);
}
