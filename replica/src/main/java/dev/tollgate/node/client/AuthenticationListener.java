package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * Is told of logins, for an audit log. Called on event loops, so nothing here may wait.
 * Thread-safe.
 */
public interface AuthenticationListener {
  /** Listens to nothing. */
  AuthenticationListener NOBODY =
      new AuthenticationListener() {
        @Override
        public void loggedIn(Attempt attempt) {}

        @Override
        public void refused(Attempt attempt, Reason reason) {}
      };

  /**
   * A login.
   *
   * @param user as the cluster spells the name that the client sent; null if it sent none
   * @param address of the client
   * @param mechanism by which the client logs in; null if it has named none
   */
  record Attempt(@Nullable String user, String address, @Nullable String mechanism) {
    public Attempt {
      requireNonNull(address, "address");
    }
  }

  /** Why a login was refused. Clients are not told whether a user exists. */
  enum Reason {
    /** The user does not exist, or has no password. */
    NO_SUCH_USER,
    /** The proof fits no password of the user. */
    WRONG_PASSWORD,
    /** The certificate names no user, or another one. */
    WRONG_CERTIFICATE,
    /** The user has proven who it is, and is locked or has expired. */
    CLOSED,
    /** The token is not of the issuer, not for this cluster, over, or stands for no user. */
    WRONG_TOKEN,
    /** The rules of the node do not let the user log in this way from this address. */
    NOT_ALLOWED,
    /** A message is malformed, or binds to another channel: somebody may sit in between. */
    MALFORMED,
    /** The client made another request instead of a login. */
    NO_LOGIN,
    /** The client speaks a version of the protocol that has no login. */
    OLD_CLIENT,
    /** The proof was not checked, because there were too many failed logins. */
    TOO_MANY_FAILURES
  }

  void loggedIn(Attempt attempt);

  void refused(Attempt attempt, Reason reason);
}
