package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.node.client.AuthenticationListener.Attempt;
import dev.tollgate.node.client.AuthenticationListener.Reason;
import dev.tollgate.node.client.PasswordLogin.Verdict;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.node.login.TokenCheck;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Checks users that show a token, at the port for clients and over HTTP. What is refused counts as
 * a failed login of this token at its address, and so slows the address as guesses of passwords do:
 * nobody can guess a token, and no user is kept out because another one has shown an old token.
 * Thread-safe.
 */
final class TokenLogin {
  /**
   * A login.
   *
   * @param requested as whom the client wants to log in; empty for the user of the token
   * @param address by which failures are counted
   * @param from null for a client within this process
   * @param mechanism for the audit file
   */
  record Shown(
      String requested,
      String token,
      String address,
      @Nullable InetAddress from,
      String mechanism) {
    Shown {
      requireNonNull(requested, "requested");
      requireNonNull(token, "token");
      requireNonNull(address, "address");
      requireNonNull(mechanism, "mechanism");
    }
  }

  /**
   * What became of it.
   *
   * @param proof null unless the verdict is {@link Verdict#RIGHT}
   * @param why it was refused, for the client; empty if it was not
   */
  record Decision(Verdict verdict, @Nullable LoginProof proof, String why) {
    static Decision refused(Verdict verdict, String why) {
      return new Decision(verdict, null, why);
    }
  }

  private final ClientAccess access;
  private final LoginDelays delays;
  private final CheckPlaces checked =
      new CheckPlaces(
          Limits.TOKEN_CHECKS, Limits.TOKEN_CHECKS_PER_ADDRESS, Limits.TOKEN_CHECKS_PER_ADDRESS);

  /** Of tokens that wait for keys: what waits for a network takes no place of what does not. */
  private final CheckPlaces waiting =
      new CheckPlaces(
          Limits.TOKENS_AWAITING_KEYS,
          Limits.TOKENS_AWAITING_KEYS_PER_ADDRESS,
          Limits.TOKENS_AWAITING_KEYS_PER_ADDRESS);

  /** Digests of tokens that were right. */
  private final Set<String> remembered =
      Collections.synchronizedSet(
          Collections.newSetFromMap(
              new LinkedHashMap<>() {
                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
                  return size() > Limits.REMEMBERED_TOKENS;
                }
              }));

  TokenLogin(ClientAccess access, LoginDelays delays) {
    this.access = requireNonNull(access, "access");
    this.delays = requireNonNull(delays, "delays");
  }

  /** True if some user may log in by token from an address. */
  boolean isOffered(@Nullable InetAddress from) {
    return access.rules().methods().tokens() != null
        && access.rules().methods().offer(LoginMethod.OIDC, from);
  }

  /** True if the token was right before. */
  boolean isKnown(String token) {
    return remembered.contains(digest(token));
  }

  /** How many tokens wait for the keys of the issuer. */
  int waiting() {
    return waiting.taken();
  }

  /** How long to wait until the token may be checked; see {@link LoginDelays#enter}. */
  Duration delay(Shown shown) {
    return isKnown(shown.token()) ? Duration.ZERO : delays.enter(nameOf(shown), shown.address());
  }

  /** Failures are counted under names that no user can have. */
  private static String nameOf(Shown shown) {
    return "token " + shown.token();
  }

  /**
   * Checks a token. Does not wait.
   *
   * @param mayWait whether the answer may come after the keys of the issuer have been fetched
   * @param told whether auditors are told of a login by a token that was right before
   * @param answer is called once, on this thread or another one
   */
  void check(Shown shown, boolean mayWait, boolean told, Consumer<Decision> answer) {
    TokenCheck tokens = access.rules().methods().tokens();
    if (tokens == null) {
      answer.accept(Decision.refused(Verdict.WRONG, "this node takes no tokens"));
      return;
    }
    if (!access.users().knowsUsers()) {
      answer.accept(Decision.refused(Verdict.NOT_YET, "this node does not know the users yet"));
      return;
    }
    Place place = new Place(shown.address());
    if (!place.isTaken()) {
      answer.accept(Decision.refused(Verdict.BUSY, "too many tokens are being checked: try again"));
      return;
    }
    tokens.check(
        shown.token(),
        () -> mayWait && place.moveToWaiting(),
        verdict -> {
          place.giveBack();
          answer.accept(decide(shown, told, verdict, tokens::left));
        });
  }

  /** The place of one token. One thread at a time. */
  private final class Place {
    private final String address;
    private @Nullable CheckPlaces of;

    Place(String address) {
      this.address = address;
      this.of = checked.take("", address) ? checked : null;
    }

    boolean isTaken() {
      return of != null;
    }

    boolean moveToWaiting() {
      if (!waiting.take("", address)) {
        return false;
      }
      giveBack();
      of = waiting;
      return true;
    }

    void giveBack() {
      requireNonNull(of, "a place").giveBack("", address);
      of = null;
    }
  }

  private Decision decide(
      Shown shown,
      boolean told,
      TokenCheck.Verdict verdict,
      Function<TokenCheck.Verdict, @Nullable Duration> left) {
    String name = verdict.user();
    if (verdict.temporary()) {
      return Decision.refused(Verdict.BUSY, String.valueOf(verdict.refusal()));
    }
    if (name == null) {
      return refused(shown, null, Reason.WRONG_TOKEN, String.valueOf(verdict.refusal()));
    }
    boolean itself =
        shown.requested().isEmpty() || access.users().spelled(shown.requested()).equals(name);
    Authentication.User user = access.users().find(name);
    if (!itself || user == null) {
      return refused(shown, name, Reason.WRONG_TOKEN, "it does not stand for a user of this name");
    }
    if (!access.rules().methods().allow(LoginMethod.OIDC, name, shown.from())) {
      return refused(
          shown, name, Reason.NOT_ALLOWED, "no rule lets this user log in by token from here");
    }
    String closed = user.closed();
    if (closed != null) {
      access
          .listener()
          .refused(new Attempt(name, shown.address(), shown.mechanism()), Reason.CLOSED);
      return Decision.refused(Verdict.CLOSED, closed);
    }
    boolean first = remembered.add(digest(shown.token()));
    if (first || told) {
      access.listener().loggedIn(new Attempt(name, shown.address(), shown.mechanism()));
    }
    return new Decision(
        Verdict.RIGHT,
        new LoginProof(name, user.number(), LoginMethod.OIDC, left.apply(verdict)),
        "");
  }

  private Decision refused(Shown shown, @Nullable String user, Reason reason, String why) {
    remembered.remove(digest(shown.token()));
    delays.failed(nameOf(shown), shown.address());
    access.listener().refused(new Attempt(user, shown.address(), shown.mechanism()), reason);
    return Decision.refused(Verdict.WRONG, why);
  }

  private static String digest(String token) {
    try {
      return Base64.getEncoder()
          .encodeToString(
              MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }
}
