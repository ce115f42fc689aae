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
 * @param rules what the node demands of logins
 */
public record ClientAccess(
    Authentication users,
    SessionOwners owners,
    AuthenticationListener listener,
    LongSupplier nanos,
    LoginRules rules) {
  /** Everybody may connect. */
  public static final ClientAccess OPEN =
      new ClientAccess(
          Authentication.NONE,
          (user, session) -> true,
          AuthenticationListener.NOBODY,
          System::nanoTime);

  /** Creates the access to a node that demands what nodes demand by default. */
  public ClientAccess(
      Authentication users,
      SessionOwners owners,
      AuthenticationListener listener,
      LongSupplier nanos) {
    this(users, owners, listener, nanos, LoginRules.STANDARD);
  }

  public ClientAccess {
    requireNonNull(users, "users");
    requireNonNull(owners, "owners");
    requireNonNull(listener, "listener");
    requireNonNull(nanos, "nanos");
    requireNonNull(rules, "rules");
  }
}
