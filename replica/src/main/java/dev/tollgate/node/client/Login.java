package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.client.AuthenticationListener.Attempt;
import dev.tollgate.node.client.AuthenticationListener.Reason;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.wire.BearerMessage;
import dev.tollgate.wire.PasswordVerifier;
import dev.tollgate.wire.PlainMessage;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.ScramBinding;
import dev.tollgate.wire.ScramException;
import dev.tollgate.wire.ScramKeys;
import dev.tollgate.wire.ScramServer;
import dev.tollgate.wire.SqlState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The login of one connection: one attempt, by password, certificate or token. A client learns of a
 * user that does not exist no more than of a wrong password: the same messages, the same salt each
 * time, the same delays. The transport calls it as it does {@link ClientConnection}, and so do
 * delayed checks.
 */
final class Login {
  /** Gets the user who has proven who it is, and the last message of the node. */
  interface Success {
    void over(LoginProof user, byte[] last);
  }

  private enum State {
    NEW,
    CHALLENGED,
    /** The proof is there, and may have to wait until it is checked. */
    PROVEN,
    ENDED
  }

  private static final String REFUSED =
      "the user, the password or the certificate is wrong, or the node lets this user log in in"
          + " another way: check the properties user and password";

  private static final Set<String> KNOWN =
      Set.of(
          ScramBinding.PLAIN,
          ScramBinding.PLUS,
          Protocol.EXTERNAL,
          Protocol.OAUTHBEARER,
          Protocol.PLAIN);

  private final ClientAccess access;
  private final String nodeId;
  private final LoginDelays delays;
  private final TokenLogin tokens;
  private final DirectoryLogin directory;
  private final ClientConnection.Link link;
  private State state = State.NEW;
  private @Nullable ScramServer scram;
  private @Nullable String mechanism;
  private @Nullable String name;

  Login(
      ClientAccess access,
      String nodeId,
      LoginDelays delays,
      TokenLogin tokens,
      DirectoryLogin directory,
      ClientConnection.Link link) {
    this.access = requireNonNull(access, "access");
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.delays = requireNonNull(delays, "delays");
    this.tokens = requireNonNull(tokens, "tokens");
    this.directory = requireNonNull(directory, "directory");
    this.link = requireNonNull(link, "link");
  }

  /**
   * Answers hello.
   *
   * @param version of the protocol that both sides speak
   * @return false if the client cannot log in here; then the connection ends
   */
  boolean require(int version, Consumer<Reply> answer) {
    if (version < Protocol.LOGIN_VERSION) {
      refuse(
          answer,
          SqlState.LOGIN_REFUSED,
          "node "
              + nodeId
              + " requires a user and a password, and version "
              + version
              + " of the protocol has none: use a driver of the version of this node",
          Reason.OLD_CLIENT);
      return false;
    }
    if (!access.users().knowsUsers()) {
      end(answer, notYet());
      return false;
    }
    List<String> mechanisms = mechanisms();
    if (mechanisms.isEmpty()) {
      refuse(
          answer,
          SqlState.LOGIN_REFUSED,
          "node "
              + nodeId
              + " lets nobody log in on this connection: it may want TLS"
              + " (--require-channel-binding), or no line of its --login-rules is for the address"
              + " of the client",
          Reason.NOT_ALLOWED);
      return false;
    }
    if (mechanisms.contains(Protocol.OAUTHBEARER)) {
      link.expectToken();
    }
    answer.accept(new Reply.LoginRequired(version, mechanisms));
    return true;
  }

  /** The ways by which some user may log in on this connection. */
  private List<String> mechanisms() {
    LoginMethods methods = access.rules().methods();
    List<String> mechanisms = new ArrayList<>();
    if (methods.offer(LoginMethod.SCRAM, link.remote())) {
      if (link.channelBinding() != null) {
        mechanisms.add(ScramBinding.PLUS);
      }
      if (!access.rules().bindingRequired()) {
        mechanisms.add(ScramBinding.PLAIN);
      }
    }
    if (link.mayShowCertificate() && methods.offer(LoginMethod.CERT, link.remote())) {
      mechanisms.add(Protocol.EXTERNAL);
    }
    if (link.isEncrypted() && tokens.isOffered(link.remote())) {
      mechanisms.add(Protocol.OAUTHBEARER);
    }
    if (link.isEncrypted() && directory.isOffered(link.remote())) {
      mechanisms.add(Protocol.PLAIN);
    }
    return mechanisms;
  }

  private Reply.Failure notYet() {
    return new Reply.Failure(
        SqlState.NO_QUORUM,
        "node " + nodeId + " does not know the users yet: try another node, or try again");
  }

  void begin(Request.BeginLogin begin, Consumer<Reply> answer, Success success) {
    if (state != State.NEW) {
      skipped(answer);
      return;
    }
    mechanism = known(begin);
    if (!access.users().knowsUsers()) {
      end(answer, notYet());
    } else if (Protocol.EXTERNAL.equals(mechanism)) {
      byCertificate(new String(begin.data(), StandardCharsets.UTF_8), answer, success);
    } else if (Protocol.OAUTHBEARER.equals(mechanism)) {
      byToken(begin.data(), answer, success);
    } else if (Protocol.PLAIN.equals(mechanism)) {
      byDirectory(begin.data(), answer, success);
    } else if (access.rules().bindingRequired() && !ScramBinding.PLUS.equals(mechanism)) {
      malformed("this node requires " + ScramBinding.PLUS + ", a bound login", answer);
    } else {
      challenge(begin, answer);
    }
  }

  /** The mechanism, if it is one: what a stranger writes does not go into logs. */
  private static @Nullable String known(Request.BeginLogin begin) {
    return KNOWN.contains(begin.mechanism()) ? begin.mechanism() : null;
  }

  private boolean isAllowed(LoginMethod method, String user) {
    return access.rules().methods().allow(method, user, link.remote());
  }

  private void byToken(byte[] data, Consumer<Reply> answer, Success success) {
    if (!link.isEncrypted()) {
      malformed("a token is sent over TLS alone", answer);
      return;
    }
    BearerMessage message;
    try {
      message = BearerMessage.read(data);
    } catch (IllegalArgumentException e) {
      malformed(String.valueOf(e.getMessage()), answer);
      return;
    }
    TokenLogin.Shown shown =
        new TokenLogin.Shown(
            message.user(), message.token(), link.address(), link.remote(), Protocol.OAUTHBEARER);
    state = State.PROVEN;
    Duration wait = tokens.delay(shown);
    if (isTooLong(wait, answer)) {
      return;
    }
    link.later(
        wait,
        () ->
            tokens.check(
                shown,
                /* mayWait= */ true,
                /* told= */ true,
                // the thread of the connection goes on with it
                decision -> link.later(Duration.ZERO, () -> decided(decision, answer, success))));
  }

  private void decided(TokenLogin.Decision decision, Consumer<Reply> answer, Success success) {
    if (hasEnded()) {
      return;
    }
    switch (decision.verdict()) {
      case RIGHT -> success.over(requireNonNull(decision.proof()), new byte[0]);
      case WRONG, LATER, TOO_MANY ->
          end(
              answer,
              new Reply.Failure(SqlState.LOGIN_REFUSED, "the token is refused: " + decision.why()));
      case CLOSED -> end(answer, new Reply.Failure(SqlState.LOGIN_REFUSED, decision.why()));
      case BUSY, NOT_YET ->
          end(
              answer,
              new Reply.Failure(SqlState.NO_QUORUM, "node " + nodeId + ": " + decision.why()));
    }
  }

  private void byDirectory(byte[] data, Consumer<Reply> answer, Success success) {
    if (!link.isEncrypted()) {
      malformed("a password itself is sent over TLS alone", answer);
      return;
    }
    DirectoryLogin.Shown shown;
    try {
      PlainMessage message = PlainMessage.read(data);
      shown =
          new DirectoryLogin.Shown(
              access.users().spelled(message.user()),
              message.password(),
              link.address(),
              link.remote());
    } catch (IllegalArgumentException e) {
      malformed(String.valueOf(e.getMessage()), answer);
      return;
    }
    name = shown.user();
    state = State.PROVEN;
    Duration wait = directory.delay(shown);
    if (isTooLong(wait, answer)) {
      return;
    }
    link.later(
        wait,
        () ->
            directory.check(
                shown,
                // the thread of the connection goes on with it
                decision -> link.later(Duration.ZERO, () -> decided(decision, answer, success))));
  }

  private void decided(DirectoryLogin.Decision decision, Consumer<Reply> answer, Success success) {
    if (hasEnded()) {
      return;
    }
    switch (decision.verdict()) {
      case RIGHT ->
          success.over(
              LoginProof.of(requireNonNull(decision.user()), LoginMethod.LDAP), new byte[0]);
      case CLOSED -> end(answer, new Reply.Failure(SqlState.LOGIN_REFUSED, decision.why()));
      case WRONG, LATER, TOO_MANY ->
          end(answer, new Reply.Failure(SqlState.LOGIN_REFUSED, REFUSED));
      case NOT_YET -> end(answer, notYet());
      case BUSY ->
          end(
              answer,
              new Reply.Failure(SqlState.NO_QUORUM, "node " + nodeId + ": " + decision.why()));
    }
  }

  /** Refuses a login that would have to wait too long. */
  private boolean isTooLong(Duration wait, Consumer<Reply> answer) {
    if (wait.compareTo(LoginDelays.LONGEST_HELD) <= 0) {
      return false;
    }
    refuse(
        answer,
        SqlState.TOO_MANY,
        "too many logins of this user from this address have failed: try again in "
            + (wait.toSeconds() + 1)
            + " s",
        Reason.TOO_MANY_FAILURES);
    return true;
  }

  private void byCertificate(String requested, Consumer<Reply> answer, Success success) {
    String certified = link.certificateUser();
    String wanted = requested.isEmpty() && certified != null ? certified : requested;
    name = access.users().spelled(wanted);
    Authentication.User user =
        certified != null && access.users().spelled(certified).equals(name)
            ? access.users().find(name)
            : null;
    if (user == null || !isAllowed(LoginMethod.CERT, user.name())) {
      refuse(
          answer,
          SqlState.LOGIN_REFUSED,
          REFUSED,
          user == null ? Reason.WRONG_CERTIFICATE : Reason.NOT_ALLOWED);
    } else {
      succeed(user, LoginMethod.CERT, new byte[0], answer, success);
    }
  }

  private void challenge(Request.BeginLogin begin, Consumer<Reply> answer) {
    try {
      ScramServer exchange =
          new ScramServer(begin.mechanism(), link.channelBinding(), begin.data());
      String spelled = access.users().spelled(exchange.user());
      name = spelled;
      List<PasswordVerifier> passwords = passwordsOf(spelled);
      // always computed, because the time would tell
      byte[] decoy = ScramKeys.decoySalt(access.users().decoyKey(), spelled);
      byte[] challenge =
          passwords.isEmpty()
              ? exchange.challenge(decoy, PasswordVerifier.DEFAULT_ITERATIONS)
              : exchange.challenge(passwords.get(0).salt(), passwords.get(0).iterations());
      scram = exchange;
      state = State.CHALLENGED;
      answer.accept(new Reply.LoginChallenge(challenge));
    } catch (ScramException e) {
      malformed(String.valueOf(e.getMessage()), answer);
    }
  }

  private List<PasswordVerifier> passwordsOf(String spelled) {
    Authentication.User user = access.users().find(spelled);
    return user == null ? List.of() : user.passwords();
  }

  /** True if the client has failed to log in; the connection is about to end. */
  boolean hasEnded() {
    return state == State.ENDED;
  }

  void proceed(Request.ContinueLogin next, Consumer<Reply> answer, Success success) {
    ScramServer exchange = scram;
    String user = name;
    if (state != State.CHALLENGED || exchange == null || user == null) {
      skipped(answer);
      return;
    }
    state = State.PROVEN;
    Duration wait = delays.enter(user, link.address());
    if (isTooLong(wait, answer)) {
      return;
    }
    if (wait.isZero()) {
      check(exchange, user, next.data(), answer, success);
    } else {
      link.later(wait, () -> check(exchange, user, next.data(), answer, success));
    }
  }

  private void check(
      ScramServer exchange, String user, byte[] proof, Consumer<Reply> answer, Success success) {
    if (hasEnded()) {
      return;
    }
    try {
      Authentication.User known = access.users().find(user);
      List<PasswordVerifier> passwords = known == null ? List.of() : known.passwords();
      byte[] last = exchange.verify(proof, passwords);
      boolean allowed = isAllowed(LoginMethod.SCRAM, user);
      // a password is no more told right than a user is told to exist
      if (last == null || known == null || !allowed) {
        delays.failed(user, link.address());
        refuse(
            answer,
            SqlState.LOGIN_REFUSED,
            REFUSED,
            !allowed
                ? Reason.NOT_ALLOWED
                : passwords.isEmpty() ? Reason.NO_SUCH_USER : Reason.WRONG_PASSWORD);
      } else {
        delays.succeeded(user, link.address());
        succeed(known, LoginMethod.SCRAM, last, answer, success);
      }
    } catch (ScramException e) {
      malformed(String.valueOf(e.getMessage()), answer);
    }
  }

  /** Only now the client is told that its user may not log in: a stranger learns nothing. */
  private void succeed(
      Authentication.User user,
      LoginMethod method,
      byte[] last,
      Consumer<Reply> answer,
      Success success) {
    String closed = user.closed();
    if (closed != null) {
      refuse(answer, SqlState.LOGIN_REFUSED, closed, Reason.CLOSED);
      return;
    }
    access.listener().loggedIn(attempt());
    success.over(LoginProof.of(user, method), last);
  }

  private void malformed(String why, Consumer<Reply> answer) {
    refuse(answer, SqlState.LOGIN_REFUSED, "the login failed: " + why, Reason.MALFORMED);
  }

  /** Refuses a client that asks for anything but a login, or for a second one. */
  void skipped(Consumer<Reply> answer) {
    refuse(
        answer,
        SqlState.LOGIN_REFUSED,
        "node " + nodeId + " requires a login before any other request",
        Reason.NO_LOGIN);
  }

  /** Ends a connection whose login no longer counts. */
  void outdated(LiveLogins.End end, Consumer<Reply> answer) {
    end(answer, new Reply.Failure(SqlState.LOGIN_REFUSED, end.why()));
  }

  private void refuse(Consumer<Reply> answer, SqlState why, String message, Reason reason) {
    access.listener().refused(attempt(), reason);
    end(answer, new Reply.Failure(why, message));
  }

  private void end(Consumer<Reply> answer, Reply.Failure why) {
    state = State.ENDED;
    answer.accept(why);
    link.close();
  }

  private Attempt attempt() {
    return new Attempt(name, link.address(), mechanism);
  }
}
