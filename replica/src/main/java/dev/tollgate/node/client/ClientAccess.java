package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.util.function.LongSupplier;

/**
 * Who may connect to a node.
 *
 * @param users the users, and whether clients have to log in
 * @param owners the users of sessions
 * @param listener is told of logins
 * @param nanos a clock that does not go back, for delays after failed logins
 */
public record ClientAccess(
    Authentication users,
    SessionOwners owners,
    AuthenticationListener listener,
    LongSupplier nanos) {
  /** Everybody may connect. */
  public static final ClientAccess OPEN =
      new ClientAccess(
          Authentication.NONE,
          (user, session) -> true,
          AuthenticationListener.NOBODY,
          System::nanoTime);

  public ClientAccess {
    requireNonNull(users, "users");
    requireNonNull(owners, "owners");
    requireNonNull(listener, "listener");
    requireNonNull(nanos, "nanos");
  }
}
