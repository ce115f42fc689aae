package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserName;
import dev.tollgate.node.audit.AuditTrail;
import dev.tollgate.node.client.LiveLogins;
import dev.tollgate.node.client.LoginProof;
import dev.tollgate.node.client.PasswordLogin;
import dev.tollgate.node.replica.Duties;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.wire.BearerMessage;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who may use the admin address. The users are those of the cluster, and prove who they are by HTTP
 * Basic, by a bearer token, or by the certificate of their connection. On a cluster without users
 * everybody is an administrator, as for clients. Thread-safe.
 *
 * <p>A browser on the same machine sends requests that pages of others have written. So where
 * nobody logs in, the header Host has to name this machine and not a host name that others have
 * pointed here. And a request that changes something has to come from a page of this address.
 */
final class Doorkeeper implements AdminServer.Admission {
  /**
   * Either a caller, or the answer to a client that is not admitted, or the time after which the
   * request is looked at again.
   *
   * @param user that has proved who it is and lacks a right; null for all others
   * @param untold why the client is not admitted; null if it is, or if the audit has its line
   */
  record Decision(
      @Nullable Caller caller,
      @Nullable String user,
      @Nullable Answer refusal,
      @Nullable String untold,
      @Nullable Duration later) {
    static Decision admit(Caller caller) {
      return new Decision(caller, null, null, null, null);
    }

    static Decision after(Duration wait) {
      return new Decision(null, null, null, null, wait);
    }

    /** The same, of which the login has told the audit. */
    Decision told() {
      return new Decision(caller, user, refusal, null, later);
    }
  }

  /**
   * What a request says of its sender.
   *
   * @param page the method and the path
   * @param waited whether the request has waited for the time of a decision
   */
  record Credentials(
      String page,
      InetAddress from,
      @Nullable String certified,
      Function<String, @Nullable String> headers,
      boolean waited) {
    @Nullable String header(String name) {
      return headers.apply(name);
    }
  }

  private static final String SCHEME = "basic ";
  private static final Pattern LITERAL = Pattern.compile("[0-9.]+|\\[[0-9a-fA-F:.%]+]");

  private final PasswordLogin login;
  private final LiveLogins logins;
  private final Facts facts;
  private final AuditTrail audit;
  private final InetSocketAddress address;

  Doorkeeper(
      PasswordLogin login,
      LiveLogins logins,
      Facts facts,
      AuditTrail audit,
      InetSocketAddress address) {
    this.login = requireNonNull(login, "login");
    this.logins = requireNonNull(logins, "logins");
    this.facts = requireNonNull(facts, "facts");
    this.audit = requireNonNull(audit, "audit");
    this.address = requireNonNull(address, "address");
  }

  @Override
  public Runnable watch(Caller caller, Presence presence) {
    if (!caller.known()) {
      return () -> {};
    }
    return logins.watchRequest(caller.login(), end -> presence.endLogin(end.why()))::close;
  }

  /** Decides, and has auditors know of a refusal. */
  @Override
  public Decision decide(Audience audience, boolean changes, Credentials credentials) {
    Decision decision = examine(audience, changes, credentials);
    String untold = decision.untold();
    if (untold != null) {
      audit.pageRefused(credentials.from(), decision.user(), credentials.page(), untold);
    }
    return decision;
  }

  private Decision examine(Audience audience, boolean changes, Credentials credentials) {
    if (changes && !isOwnPage(credentials)) {
      return refused(Answer.FORBIDDEN, "the request comes from a page of another address");
    }
    if (!login.isRequired()) {
      return withoutUsers(audience, credentials);
    }
    Decision decision = identify(audience, credentials);
    Caller caller = decision.caller();
    if (caller == null || audience.includes(caller)) {
      return decision;
    }
    String why = "user '" + caller.user() + "' " + audience.missing();
    return new Decision(null, caller.user(), Answer.text(Answer.FORBIDDEN, why), why, null);
  }

  private Decision withoutUsers(Audience audience, Credentials credentials) {
    if (isOwnHost(credentials)) {
      return Decision.admit(new Caller(true, null, duties(UserName.ANONYMOUS.value())));
    }
    return audience == Audience.ANYBODY
        ? Decision.admit(Caller.STRANGER)
        : refused(
            Answer.FORBIDDEN,
            "the header Host names neither an IP address nor localhost nor the host of"
                + " --admin-address: without users, this address answers to no other name");
  }

  private Decision identify(Audience audience, Credentials credentials) {
    String authorization = credentials.header("Authorization");
    String certified = credentials.certified();
    if (authorization != null) {
      return BearerMessage.isBearer(authorization)
          ? byToken(authorization, credentials)
          : byPassword(authorization, credentials);
    }
    if (certified != null) {
      return decision(login.byCertificate(certified, credentials.from()));
    }
    return audience == Audience.ANYBODY
        ? Decision.admit(Caller.STRANGER)
        : unauthorized("this page requires a user and a password");
  }

  private Decision byToken(String authorization, Credentials credentials) {
    if (!login.takesTokens(credentials.from())) {
      return refusedToken("no token is a login here");
    }
    String token;
    try {
      token = BearerMessage.token(authorization);
    } catch (IllegalArgumentException e) {
      return refusedToken("the header Authorization has no bearer token");
    }
    PasswordLogin.Result result = login.byToken(token, credentials.from(), credentials.waited());
    return result.verdict() == PasswordLogin.Verdict.WRONG
        ? refusedToken("the token is refused").told()
        : decision(result);
  }

  /** As RFC 6750 has it, section 3. */
  private static Decision refusedToken(String why) {
    return refused(
        Answer.text(Answer.UNAUTHORIZED, why)
            .with("WWW-Authenticate", "Bearer realm=\"tollgate\", error=\"invalid_token\""),
        why);
  }

  private Decision byPassword(String authorization, Credentials credentials) {
    String pair = decoded(authorization);
    int colon = pair == null ? -1 : pair.indexOf(':');
    if (pair == null || colon < 0) {
      return unauthorized("the header Authorization has no user and password of HTTP Basic");
    }
    return decision(
        login.byPassword(
            pair.substring(0, colon),
            pair.substring(colon + 1),
            credentials.from(),
            credentials.waited()));
  }

  private static @Nullable String decoded(String authorization) {
    if (authorization.length() > AdminLimits.LOGIN_CHARS
        || !authorization.toLowerCase(Locale.ROOT).startsWith(SCHEME)) {
      return null;
    }
    try {
      byte[] bytes = Base64.getDecoder().decode(authorization.substring(SCHEME.length()).trim());
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (IllegalArgumentException | CharacterCodingException e) {
      return null;
    }
  }

  private Decision decision(PasswordLogin.Result result) {
    return switch (result.verdict()) {
      case RIGHT -> {
        LoginProof proof = requireNonNull(result.login());
        yield Decision.admit(new Caller(true, proof, duties(proof.user())));
      }
      case WRONG -> unauthorized("the user or the password is wrong").told();
      case CLOSED -> refused(Answer.FORBIDDEN, result.why()).told();
      case LATER -> Decision.after(result.retryAfter());
      case TOO_MANY -> {
        String why = "too many logins of this user from this address have failed: try again later";
        yield refused(
                Answer.text(Answer.TOO_MANY, why)
                    .with("Retry-After", String.valueOf(result.retryAfter().toSeconds() + 1)),
                why)
            .told();
      }
      // nobody is refused: the same request may be served in a moment
      case BUSY ->
          refused(
                  Answer.text(Answer.UNAVAILABLE, result.why()).with("Retry-After", "1"),
                  result.why())
              .told();
      case NOT_YET ->
          refused(Answer.UNAVAILABLE, "this node does not know the users yet: try again").told();
    };
  }

  private Duties duties(String user) {
    return UserName.isValid(user) ? facts.duties(new UserName(user)) : Duties.NONE;
  }

  private static Decision unauthorized(String why) {
    return refused(
        Answer.text(Answer.UNAUTHORIZED, why)
            .with("WWW-Authenticate", "Basic realm=\"tollgate\", charset=\"UTF-8\""),
        why);
  }

  private static Decision refused(int status, String why) {
    return refused(Answer.text(status, why), why);
  }

  private static Decision refused(Answer answer, String why) {
    return new Decision(null, null, answer, why, null);
  }

  private boolean isOwnHost(Credentials credentials) {
    String header = credentials.header("Host");
    if (header == null) {
      return false;
    }
    String host = hostOf(header);
    return host.equalsIgnoreCase("localhost")
        || LITERAL.matcher(host).matches()
        || host.equalsIgnoreCase(address.getHostString());
  }

  private static String hostOf(String authority) {
    int end = authority.endsWith("]") ? -1 : authority.lastIndexOf(':');
    return end < 0 ? authority : authority.substring(0, end);
  }

  /** True unless a browser says that a page of another address sends the request. */
  static boolean isOwnPage(Credentials credentials) {
    String origin = credentials.header("Origin");
    String host = credentials.header("Host");
    if (origin == null) {
      return true;
    }
    int authority = origin.indexOf("://");
    return host != null
        && authority > 0
        && origin.substring(authority + "://".length()).equalsIgnoreCase(host);
  }
}
