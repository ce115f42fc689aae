package dev.tollgate.transport;

import dev.tollgate.wire.BearerMessage;
import dev.tollgate.wire.PasswordVerifier;
import dev.tollgate.wire.PlainMessage;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.ScramBinding;
import dev.tollgate.wire.ScramClient;
import dev.tollgate.wire.ScramException;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * Authenticates the connections of one user, each right after hello. A token or a password proves
 * the user if there is one, else a certificate. No node gets the password itself unless the
 * application has said so: a node that asks for it may want to keep it. Thread-safe.
 */
final class ClientLogin {
  private final Credentials credentials;
  private final SaltedPasswords passwords;

  ClientLogin(Credentials credentials, SaltedPasswords passwords) {
    this.credentials = credentials;
    this.passwords = passwords;
  }

  /**
   * Authenticates a connection.
   *
   * @param timeout the longest time for each reply
   * @throws NodeConnection.RefusedException if the node rejects the user, if there is nothing that
   *     could prove the user, or if the node does not prove that it knows the user
   */
  Reply.Welcome run(NodeConnection node, Reply.LoginRequired required, Duration timeout)
      throws IOException {
    List<String> mechanisms = required.mechanisms();
    if (credentials.hasToken()) {
      return byToken(node, mechanisms, timeout);
    }
    if (credentials.sendsPassword()) {
      return byPlainPassword(node, mechanisms, timeout);
    }
    ScramBinding binding = ScramBinding.choose(node.channelBinding(), mechanisms);
    if (credentials.hasPassword() && mechanisms.contains(binding.mechanism())) {
      return byPassword(node, binding, mechanisms.contains(Protocol.PLAIN), timeout);
    }
    if (credentials.hasPassword() && mechanisms.contains(Protocol.PLAIN)) {
      throw refused(
          node,
          SqlState.LOGIN_REFUSED,
          "the node wants the password itself, for a directory: set plainPassword=true and"
              + " sslRootCert in the URL to send it, or change the --login-rules of the nodes");
    }
    if (mechanisms.contains(Protocol.EXTERNAL)) {
      return byCertificate(node, timeout);
    }
    throw refused(
        node,
        SqlState.LOGIN_REFUSED,
        credentials.hasPassword()
            ? "the node accepts none of the ways in which this driver logs in, but "
                + String.join(", ", mechanisms)
            : "the node requires a user and a password: set the properties user and password, or"
                + " passwordFile; it takes no certificate for a login");
  }

  /** A secret that is not bound to the connection goes to nobody else than a node. */
  private static void requireVerified(NodeConnection node, String secret) throws IOException {
    if (!node.isVerified()) {
      throw refused(
          node,
          SqlState.LOGIN_REFUSED,
          "the node has not shown who it is, so anybody in between could take the "
              + secret
              + ": set sslMode=verify-full and sslRootCert in the URL");
    }
  }

  private Reply.Welcome byPlainPassword(
      NodeConnection node, List<String> mechanisms, Duration timeout) throws IOException {
    requireVerified(node, "password");
    if (!mechanisms.contains(Protocol.PLAIN)) {
      throw refused(
          node,
          SqlState.LOGIN_REFUSED,
          "the node takes no password itself from this address, but "
              + String.join(", ", mechanisms)
              + ": leave plainPassword out of the URL, or start the nodes with --ldap-url and an"
              + " ldap line in --login-rules");
    }
    byte[] message;
    try {
      message = new PlainMessage(credentials.user(), credentials.password()).toBytes();
    } catch (IOException | IllegalArgumentException e) {
      throw refused(node, SqlState.LOGIN_REFUSED, String.valueOf(e.getMessage()));
    }
    return loggedIn(node, node.ask(new Request.BeginLogin(Protocol.PLAIN, message), timeout))
        .welcome();
  }

  /** A token is as good as a password, and not bound to anything. */
  private Reply.Welcome byToken(NodeConnection node, List<String> mechanisms, Duration timeout)
      throws IOException {
    requireVerified(node, "token");
    if (!mechanisms.contains(Protocol.OAUTHBEARER)) {
      throw refused(
          node,
          SqlState.LOGIN_REFUSED,
          "the node takes no token from this address, but "
              + String.join(", ", mechanisms)
              + ": set password or passwordFile in place of token, or start the nodes with"
              + " --oidc-issuer");
    }
    byte[] message;
    try {
      message = new BearerMessage(credentials.user(), credentials.token()).toBytes();
    } catch (IOException | IllegalArgumentException e) {
      throw refused(node, SqlState.LOGIN_REFUSED, String.valueOf(e.getMessage()));
    }
    return loggedIn(node, node.ask(new Request.BeginLogin(Protocol.OAUTHBEARER, message), timeout))
        .welcome();
  }

  /**
   * @param plainOffered whether the node lets users of a directory in
   */
  private Reply.Welcome byPassword(
      NodeConnection node, ScramBinding binding, boolean plainOffered, Duration timeout)
      throws IOException {
    String password;
    try {
      password = credentials.password();
    } catch (IOException e) {
      throw refused(node, SqlState.LOGIN_REFUSED, String.valueOf(e.getMessage()));
    }
    if (node.isUnverified() && !binding.mechanism().equals(ScramBinding.PLUS)) {
      throw refused(
          node,
          SqlState.LOGIN_REFUSED,
          node.channelBinding() == null
              ? "the node does not speak TLS, so others could read the login and all that follows:"
                  + " start the nodes with --tls-certificate, or set sslMode=disable in the URL to"
                  + " log in all the same"
              : "the certificate of the node is not checked, and the node offers no login that is"
                  + " bound to it, so anybody in between could pretend to be the node: set"
                  + " sslMode=verify-full and sslRootCert in the URL");
    }
    // nodes make no verifiers with fewer
    ScramClient scram =
        new ScramClient(credentials.user(), binding, PasswordVerifier.DEFAULT_ITERATIONS);
    Reply reply = node.ask(new Request.BeginLogin(binding.mechanism(), scram.first()), timeout);
    if (!(reply instanceof Reply.LoginChallenge challenge)) {
      throw refusedBy(node, reply);
    }
    try {
      byte[] proof =
          scram.last(
              challenge.data(), (salt, iterations) -> passwords.get(password, salt, iterations));
      Reply last = node.ask(new Request.ContinueLogin(proof), timeout);
      if (plainOffered && isRefusal(last)) {
        throw refused(
            node,
            SqlState.LOGIN_REFUSED,
            ((Reply.Failure) last).message()
                + "; if a directory (LDAP) checks the password of this user, set"
                + " plainPassword=true in the URL");
      }
      Reply.LoggedIn done = loggedIn(node, last);
      scram.requireSigned(done.data());
      return done.welcome();
    } catch (ScramException e) {
      throw refused(
          node,
          SqlState.CONNECTION_REFUSED,
          "the node does not authenticate itself: "
              + e.getMessage()
              + "; is this a node of the cluster?");
    } catch (IllegalArgumentException e) {
      throw refused(node, SqlState.LOGIN_REFUSED, String.valueOf(e.getMessage()));
    }
  }

  private Reply.Welcome byCertificate(NodeConnection node, Duration timeout) throws IOException {
    byte[] user = credentials.user().getBytes(StandardCharsets.UTF_8);
    return loggedIn(node, node.ask(new Request.BeginLogin(Protocol.EXTERNAL, user), timeout))
        .welcome();
  }

  private static Reply.LoggedIn loggedIn(NodeConnection node, Reply reply) throws IOException {
    if (reply instanceof Reply.LoggedIn done) {
      return done;
    }
    throw refusedBy(node, reply);
  }

  private static boolean isRefusal(Reply reply) {
    return reply instanceof Reply.Failure failure
        && failure.sqlState().equals(SqlState.LOGIN_REFUSED.state());
  }

  private static IOException refusedBy(NodeConnection node, Reply reply) {
    return reply instanceof Reply.Failure failure
        ? new NodeConnection.RefusedException(node.address(), failure)
        : new IOException(node.address() + " answered a login with " + reply);
  }

  private static NodeConnection.RefusedException refused(
      NodeConnection node, SqlState state, String why) {
    return new NodeConnection.RefusedException(node.address(), new Reply.Failure(state, why));
  }
}
