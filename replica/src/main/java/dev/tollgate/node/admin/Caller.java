package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.replica.Duties;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a request.
 *
 * @param known false for a request without a login, where users have to log in
 * @param user the user, as the cluster spells it; null if nobody has to log in, or the caller is
 *     not known
 * @param duties what the caller may do with what is not its own
 */
public record Caller(boolean known, @Nullable String user, Duties duties) {
  /** Has not logged in. */
  static final Caller STRANGER = new Caller(false, null, Duties.NONE);

  public Caller {
    requireNonNull(duties, "duties");
  }
}
