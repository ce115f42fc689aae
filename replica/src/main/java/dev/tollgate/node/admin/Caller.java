package dev.tollgate.node.admin;

import org.jspecify.annotations.Nullable;

/**
 * Who sends a request.
 *
 * @param known false for a request without a login, where users have to log in
 * @param user the user, as the cluster spells it; null if nobody has to log in, or the caller is
 *     not known
 * @param administrator whether the caller may do everything
 */
public record Caller(boolean known, @Nullable String user, boolean administrator) {
  /** Has not logged in. */
  static final Caller STRANGER = new Caller(false, null, false);
}
