package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.client.LoginProof;
import dev.tollgate.node.replica.Duties;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a request.
 *
 * @param known false for a request without a login, where users have to log in
 * @param login who has logged in; null if nobody has to, or the caller is not known
 * @param duties what the caller may do with what is not its own
 */
public record Caller(boolean known, @Nullable LoginProof login, Duties duties) {
  /** Has not logged in. */
  static final Caller STRANGER = new Caller(false, null, Duties.NONE);

  public Caller {
    requireNonNull(duties, "duties");
  }

  /** The user, as the cluster spells it; null without a login. */
  public @Nullable String user() {
    return login == null ? null : login.user();
  }
}
