package dev.tollgate.node.client;

import dev.tollgate.sql.UserNames;
import dev.tollgate.wire.PasswordVerifier;
import dev.tollgate.wire.ScramServer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The users of the cluster, as a node knows them when a client logs in. Thread-safe; called on
 * event loops, so nothing here may wait.
 */
public interface Authentication {
  /** Nodes that serve every client. */
  Authentication NONE =
      new Authentication() {
        @Override
        public boolean isRequired() {
          return false;
        }

        @Override
        public boolean knowsUsers() {
          return true;
        }

        @Override
        public String spelled(String name) {
          return UserNames.spelled(name);
        }

        @Override
        public @Nullable User find(String spelled) {
          return null;
        }

        @Override
        public byte[] decoyKey() {
          return new byte[PasswordVerifier.SALT_BYTES];
        }
      };

  /**
   * A user.
   *
   * @param name as the cluster spells it
   * @param passwords the verifiers of the valid passwords, at most {@link
   *     ScramServer#MAX_VERIFIERS}; none for a user that has a certificate only. All have one salt
   *     and one number of iterations, because the proof of a client is made with these: the
   *     verifier of a second password is made by {@link PasswordVerifier#beside}
   * @param number tells logins that count from those that no longer do, see {@code UserAccount}
   * @param closed why the user may not log in, for whoever has proven to be this user; null if it
   *     may
   */
  record User(String name, List<PasswordVerifier> passwords, long number, @Nullable String closed) {
    public User {
      passwords = List.copyOf(passwords);
      if (passwords.size() > ScramServer.MAX_VERIFIERS) {
        throw new IllegalArgumentException(passwords.size() + " passwords of user " + name);
      }
      for (PasswordVerifier verifier : passwords) {
        if (!verifier.isBeside(passwords.get(0))) {
          throw new IllegalArgumentException("the passwords of user " + name + " differ in salt");
        }
      }
    }
  }

  /**
   * True if clients have to log in. The answer must not depend on a state that the node has not
   * restored yet: a node that has just started would serve everybody.
   */
  boolean isRequired();

  /**
   * False while the node has not applied enough of its log to know the users. It then refuses each
   * login with 08001, and drivers try another node or try again. A wrong answer would end sessions:
   * drivers do not repeat a login that was refused with 28000.
   */
  boolean knowsUsers();

  /**
   * How the cluster spells a name that a client sent, whether the user exists or not: as {@link
   * UserNames} does.
   */
  String spelled(String name);

  /**
   * The user of this name, as {@link #spelled} returned it; null if there is none. Called for each
   * request of a client that has logged in: the connection of a user that was dropped or locked
   * ends with its next request.
   */
  @Nullable User find(String spelled);

  /**
   * The secret from which the salts of users that do not exist are computed. All nodes must have
   * the same secret, and it must never change: else a user that does not exist shows by its salt.
   * So it belongs into the replicated state, at least 16 random bytes that no view shows. (The id
   * of the cluster is no secret: each client gets it.)
   */
  byte[] decoyKey();
}
