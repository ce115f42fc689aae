package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.CountedAddress;
import dev.tollgate.node.client.AuthenticationListener.Attempt;
import dev.tollgate.node.client.AuthenticationListener.Reason;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.wire.PasswordVerifier;
import dev.tollgate.wire.ScramKeys;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Checks users that send their password itself, as HTTP does. Failures count with those of {@link
 * Login}, and delay both. Thread-safe; takes a tenth of a second, so no event loop calls it. A
 * login that has to wait after failures waits at its caller, and holds nothing meanwhile.
 *
 * <p>Here the node computes what else the client does, so strangers could keep it computing. At
 * most {@link #CHECKED} checks are under way, of which one user and one address have a share, and
 * one computes at a time, in the order of arrival. A password that was right is remembered for some
 * minutes, under a digest with a key that never leaves this process. It is right for as long as the
 * user has the verifiers of then.
 */
public final class PasswordLogin {
  /** What became of an attempt. */
  public enum Verdict {
    /** The user is who it says. */
    RIGHT,
    /** The user does not exist, or the password is wrong; nobody is told which. */
    WRONG,
    /** The user is who it says, and may not log in: {@link Result#why}. */
    CLOSED,
    /**
     * Nothing was checked: ask again after {@link Result#retryAfter}, for a login that has waited.
     */
    LATER,
    /** Too many attempts have failed: try again after {@link Result#retryAfter}. */
    TOO_MANY,
    /** The attempt cannot be checked now, as {@link Result#why} says: try again. */
    BUSY,
    /** This node does not know the users yet: try another node, or try again. */
    NOT_YET
  }

  /**
   * The answer to an attempt.
   *
   * @param login null unless the verdict is {@link Verdict#RIGHT}
   * @param why for the client; empty unless the verdict is {@link Verdict#CLOSED} or {@link
   *     Verdict#BUSY}
   * @param retryAfter zero unless the verdict is {@link Verdict#TOO_MANY} or {@link Verdict#LATER};
   *     then at most {@link LoginDelays#LONGEST_HELD}
   */
  public record Result(
      Verdict verdict, @Nullable LoginProof login, String why, Duration retryAfter) {
    public Result {
      requireNonNull(verdict, "verdict");
      requireNonNull(why, "why");
      requireNonNull(retryAfter, "retryAfter");
    }

    private static Result right(LoginProof login) {
      return new Result(Verdict.RIGHT, login, "", Duration.ZERO);
    }

    private static Result of(Verdict verdict) {
      return of(verdict, "");
    }

    private static Result of(Verdict verdict, String why) {
      return new Result(verdict, null, why, Duration.ZERO);
    }

    private static Result after(Verdict verdict, Duration wait) {
      return new Result(verdict, null, "", wait);
    }
  }

  /** Passwords of which one is computed, and the others wait for that. */
  static final int CHECKED = 32;

  /** Of these, those from one address. */
  static final int CHECKED_PER_ADDRESS = 16;

  /** Of these, those of one user. */
  static final int CHECKED_PER_USER = 4;

  /** Right passwords that are remembered; the oldest makes room. */
  static final int REMEMBERED_PASSWORDS = 1_000;

  /** How long a right password is remembered. */
  static final Duration REMEMBERED = Duration.ofMinutes(5);

  /** By a password. */
  private static final String BASIC = "BASIC";

  /** By a token. */
  private static final String BEARER = "BEARER";

  private static final String BUSY = "too many logins are being checked: try again";

  /** Longer than a directory is waited for. */
  private static final Duration LONGEST_DIRECTORY_CHECK = Duration.ofSeconds(12);

  /** Longer than all tokens take that a node checks at a time. */
  private static final Duration LONGEST_TOKEN_CHECK = Duration.ofSeconds(5);

  /** By the certificate of the client. */
  private static final String EXTERNAL = "EXTERNAL";

  private static final String HMAC = "HmacSHA256";
  private static final int KEY_BYTES = 32;

  /** A password that was right for the user of this number, with these verifiers. */
  private record Remembered(long number, List<PasswordVerifier> verifiers, long untilNanos) {}

  private final ClientAccess access;
  private final LoginDelays delays;
  private final TokenLogin tokens;
  private final DirectoryLogin directory;
  private final CheckPlaces places;

  /** For passwords that a directory checks: one that hangs keeps no other login waiting. */
  private final CheckPlaces directoryPlaces =
      new CheckPlaces(
          Limits.DIRECTORY_CHECKS_OVER_HTTP,
          Limits.DIRECTORY_CHECKS_OVER_HTTP_PER_ADDRESS,
          Limits.DIRECTORY_CHECKS_OVER_HTTP_PER_USER);

  private final ReentrantLock computing = new ReentrantLock(/* fair= */ true);
  private final SecretKeySpec key;
  private final Map<String, Remembered> remembered;

  PasswordLogin(ClientAccess access, LoginDelays delays) {
    this(access, delays, CHECKED, REMEMBERED_PASSWORDS);
  }

  /**
   * @param checked passwords that are checked at a time
   * @param most passwords that are remembered
   */
  PasswordLogin(ClientAccess access, LoginDelays delays, int checked, int most) {
    this.access = requireNonNull(access, "access");
    this.delays = requireNonNull(delays, "delays");
    this.tokens = new TokenLogin(access, delays);
    this.directory = new DirectoryLogin(access, delays);
    this.places = new CheckPlaces(checked, CHECKED_PER_ADDRESS, CHECKED_PER_USER);
    byte[] random = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(random);
    this.key = new SecretKeySpec(random, HMAC);
    this.remembered =
        new LinkedHashMap<>() {
          @Override
          protected boolean removeEldestEntry(Map.Entry<String, Remembered> eldest) {
            return size() > most;
          }
        };
  }

  TokenLogin tokens() {
    return tokens;
  }

  DirectoryLogin directory() {
    return directory;
  }

  /** True if a token may be a login from an address. */
  public boolean takesTokens(InetAddress from) {
    return tokens.isOffered(from);
  }

  /**
   * Checks a token, which names the user. Its keys are not waited for: a token with an unknown key
   * is to be tried again.
   *
   * @param waited whether the login has waited as {@link Verdict#LATER} said
   */
  public Result byToken(String token, InetAddress from, boolean waited) {
    TokenLogin.Shown shown = new TokenLogin.Shown("", token, CountedAddress.of(from), from, BEARER);
    Result later = waited ? null : delayed(tokens.delay(shown), null, shown.address(), BEARER);
    return later == null ? check(shown) : later;
  }

  /** The answer to a login that is not checked now; null if it is. */
  private @Nullable Result delayed(
      Duration wait, @Nullable String user, String address, String mechanism) {
    if (wait.compareTo(LoginDelays.LONGEST_HELD) > 0) {
      access.listener().refused(new Attempt(user, address, mechanism), Reason.TOO_MANY_FAILURES);
      return Result.after(Verdict.TOO_MANY, wait);
    }
    return wait.isZero() ? null : Result.after(Verdict.LATER, wait);
  }

  private Result check(TokenLogin.Shown shown) {
    CompletableFuture<TokenLogin.Decision> decided = new CompletableFuture<>();
    tokens.check(shown, /* mayWait= */ false, /* told= */ false, decided::complete);
    try {
      TokenLogin.Decision decision =
          decided.get(LONGEST_TOKEN_CHECK.toMillis(), TimeUnit.MILLISECONDS);
      return decision.verdict() == Verdict.RIGHT
          ? Result.right(requireNonNull(decision.proof()))
          : Result.of(decision.verdict(), decision.why());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Result.of(Verdict.BUSY, BUSY);
    } catch (TimeoutException | ExecutionException e) {
      return Result.of(Verdict.BUSY, BUSY);
    }
  }

  /** True if requests have to name a user. */
  public boolean isRequired() {
    return access.users().isRequired();
  }

  /**
   * Checks the password of a user.
   *
   * @param waited whether the login has waited as {@link Verdict#LATER} said
   */
  public Result byPassword(String user, String password, InetAddress from, boolean waited) {
    if (!access.users().knowsUsers()) {
      return Result.of(Verdict.NOT_YET);
    }
    String name = access.users().spelled(user);
    Authentication.User known = access.users().find(name);
    if (directory.isFor(name, from)) {
      return byDirectory(
          new DirectoryLogin.Shown(name, password, CountedAddress.of(from), from), known, waited);
    }
    String digest = digest(BASIC, name, password);
    boolean allowed = access.rules().methods().allow(LoginMethod.SCRAM, name, from);
    String address = CountedAddress.of(from);
    if (known != null && allowed && isRemembered(digest, known)) {
      return right(known, LoginMethod.SCRAM, new Attempt(name, address, BASIC));
    }
    Result later = waited ? null : delayed(delays.enter(name, address), name, address, BASIC);
    if (later != null) {
      return later;
    }
    if (!places.take(name, address)) {
      return Result.of(Verdict.BUSY, BUSY);
    }
    try {
      return check(name, password, known, digest, address, allowed);
    } finally {
      places.giveBack(name, address);
    }
  }

  /** Has a directory check the password of a user, unless it was right some minutes ago. */
  private Result byDirectory(
      DirectoryLogin.Shown shown, Authentication.@Nullable User known, boolean waited) {
    String digest = digest(DirectoryLogin.MECHANISM, shown.user(), shown.password());
    if (known != null && isRemembered(digest, known)) {
      return right(known, LoginMethod.LDAP, shown.attempt());
    }
    Result later =
        waited
            ? null
            : delayed(
                directory.delay(shown), shown.user(), shown.address(), DirectoryLogin.MECHANISM);
    if (later != null) {
      return later;
    }
    if (!directoryPlaces.take(shown.user(), shown.address())) {
      return Result.of(Verdict.BUSY, BUSY);
    }
    try {
      CompletableFuture<DirectoryLogin.Decision> decided = new CompletableFuture<>();
      directory.check(shown, decided::complete);
      DirectoryLogin.Decision decision =
          decided.get(LONGEST_DIRECTORY_CHECK.toMillis(), TimeUnit.MILLISECONDS);
      Authentication.User user = decision.user();
      if (user == null) {
        return Result.of(decision.verdict(), decision.why());
      }
      remember(digest, user);
      return Result.right(LoginProof.of(user, LoginMethod.LDAP));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Result.of(Verdict.BUSY, BUSY);
    } catch (TimeoutException | ExecutionException e) {
      return Result.of(Verdict.BUSY, BUSY);
    } finally {
      directoryPlaces.giveBack(shown.user(), shown.address());
    }
  }

  /** Takes a user at the word of its certificate, which was checked. */
  public Result byCertificate(String certified, InetAddress from) {
    if (!access.users().knowsUsers()) {
      return Result.of(Verdict.NOT_YET);
    }
    String name = access.users().spelled(certified);
    Attempt attempt = new Attempt(name, CountedAddress.of(from), EXTERNAL);
    Authentication.User known = access.users().find(name);
    boolean allowed = access.rules().methods().allow(LoginMethod.CERT, name, from);
    if (known == null || !allowed) {
      access
          .listener()
          .refused(attempt, known == null ? Reason.WRONG_CERTIFICATE : Reason.NOT_ALLOWED);
      return Result.of(Verdict.WRONG);
    }
    String digest = digest(EXTERNAL, name, attempt.address());
    if (!isRemembered(digest, known)) {
      return proven(known, LoginMethod.CERT, digest, attempt);
    }
    return right(known, LoginMethod.CERT, attempt);
  }

  private Result proven(
      Authentication.User user, LoginMethod method, String digest, Attempt attempt) {
    if (user.closed() == null) {
      remember(digest, user);
      access.listener().loggedIn(attempt);
    }
    return right(user, method, attempt);
  }

  /** The answer to a user that is who it says. */
  private Result right(Authentication.User user, LoginMethod method, Attempt attempt) {
    String closed = user.closed();
    if (closed == null) {
      return Result.right(LoginProof.of(user, method));
    }
    access.listener().refused(attempt, Reason.CLOSED);
    return Result.of(Verdict.CLOSED, closed);
  }

  private Result check(
      String name,
      String password,
      Authentication.@Nullable User known,
      String digest,
      String address,
      boolean allowed) {
    List<PasswordVerifier> verifiers = known == null ? List.of() : known.passwords();
    Attempt attempt = new Attempt(name, address, BASIC);
    // computed for a user that no rule allows too, because the time would tell
    if (!isRight(name, password, verifiers) || known == null || !allowed) {
      delays.failed(name, address);
      access
          .listener()
          .refused(
              attempt,
              !allowed
                  ? Reason.NOT_ALLOWED
                  : verifiers.isEmpty() ? Reason.NO_SUCH_USER : Reason.WRONG_PASSWORD);
      return Result.of(Verdict.WRONG);
    }
    delays.succeeded(name, address);
    return proven(known, LoginMethod.SCRAM, digest, attempt);
  }

  /** Computes for a user that does not exist too, because the time would tell. */
  private boolean isRight(String name, String password, List<PasswordVerifier> verifiers) {
    byte[] salt =
        verifiers.isEmpty()
            ? ScramKeys.decoySalt(access.users().decoyKey(), name)
            : verifiers.get(0).salt();
    int iterations =
        verifiers.isEmpty() ? PasswordVerifier.DEFAULT_ITERATIONS : verifiers.get(0).iterations();
    computing.lock();
    try {
      PasswordVerifier shown = PasswordVerifier.of(password, salt, iterations);
      boolean right = false;
      for (PasswordVerifier verifier : verifiers) {
        right |= verifier.equals(shown);
      }
      return right;
    } catch (IllegalArgumentException e) {
      // a password that no user can have
      return false;
    } finally {
      computing.unlock();
    }
  }

  /** A user has other passwords, or is another one of the same name, once either differs. */
  private boolean isRemembered(String digest, Authentication.User user) {
    synchronized (remembered) {
      Remembered found = remembered.get(digest);
      if (found == null) {
        return false;
      }
      boolean valid =
          found.untilNanos() - access.nanos().getAsLong() > 0
              && found.number() == user.number()
              && found.verifiers().equals(user.passwords());
      if (!valid) {
        remembered.remove(digest);
      }
      return valid;
    }
  }

  private void remember(String digest, Authentication.User user) {
    synchronized (remembered) {
      remembered.put(
          digest,
          new Remembered(
              user.number(), user.passwords(), access.nanos().getAsLong() + REMEMBERED.toNanos()));
    }
  }

  private String digest(String mechanism, String name, String secret) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(key);
      byte[] user = name.getBytes(StandardCharsets.UTF_8);
      mac.update((mechanism + " " + user.length + ":").getBytes(StandardCharsets.UTF_8));
      mac.update(user);
      return Base64.getEncoder()
          .encodeToString(mac.doFinal(secret.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has " + HMAC, e);
    }
  }
}
