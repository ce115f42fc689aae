package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
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
 * Login}, and delay both. Thread-safe; takes a tenth of a second, and up to two seconds more after
 * failures, so no event loop calls it.
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
    /** The user is who it says, and may not log in: {@link Result#closed} says why. */
    CLOSED,
    /** Too many attempts have failed: try again after {@link Result#retryAfter}. */
    TOO_MANY,
    /** Too many other attempts are being checked: try again. */
    BUSY,
    /** This node does not know the users yet: try another node, or try again. */
    NOT_YET
  }

  /**
   * The answer to an attempt.
   *
   * @param user as the cluster spells it; null unless the verdict is {@link Verdict#RIGHT}
   * @param closed null unless the verdict is {@link Verdict#CLOSED}
   * @param retryAfter zero unless the verdict is {@link Verdict#TOO_MANY}
   */
  public record Result(
      Verdict verdict, @Nullable String user, @Nullable String closed, Duration retryAfter) {
    public Result {
      requireNonNull(verdict, "verdict");
      requireNonNull(retryAfter, "retryAfter");
    }

    private static Result of(Verdict verdict) {
      return new Result(verdict, null, null, Duration.ZERO);
    }
  }

  /** Passwords that are checked at a time, or wait for that. */
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

  /** Takes the places of one user; the names of users have no small letters a to z. */
  private static final String TOKENS = "tokens";

  /** Longer than a directory is waited for. */
  private static final Duration LONGEST_DIRECTORY_CHECK = Duration.ofSeconds(12);

  /** Longer than keys of an issuer are waited for. */
  private static final Duration LONGEST_TOKEN_CHECK = Duration.ofSeconds(12);

  /** By the certificate of the client. */
  private static final String EXTERNAL = "EXTERNAL";

  private static final String HMAC = "HmacSHA256";
  private static final int KEY_BYTES = 32;

  /** A password that was right with these verifiers. */
  private record Remembered(List<PasswordVerifier> verifiers, long untilNanos) {}

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

  /** Checks a token, which names the user. */
  public Result byToken(String token, InetAddress from) {
    TokenLogin.Shown shown =
        new TokenLogin.Shown("", token, ClientAddresses.of(from), from, BEARER);
    if (tokens.isKnown(token)) {
      return check(shown);
    }
    // a wait after failures takes a thread, so a stranger gets few of them
    if (!places.take(TOKENS, shown.address())) {
      return Result.of(Verdict.BUSY);
    }
    try {
      return check(shown);
    } finally {
      places.giveBack(TOKENS, shown.address());
    }
  }

  private Result check(TokenLogin.Shown shown) {
    Duration wait = tokens.delay(shown);
    if (wait.compareTo(LoginDelays.LONGEST_HELD) > 0 || !sleep(wait)) {
      access
          .listener()
          .refused(new Attempt(null, shown.address(), BEARER), Reason.TOO_MANY_FAILURES);
      return new Result(Verdict.TOO_MANY, null, null, wait);
    }
    CompletableFuture<TokenLogin.Decision> decided = new CompletableFuture<>();
    tokens.check(shown, /* told= */ false, decided::complete);
    try {
      TokenLogin.Decision decision =
          decided.get(LONGEST_TOKEN_CHECK.toMillis(), TimeUnit.MILLISECONDS);
      Authentication.User user = decision.user();
      return switch (decision.verdict()) {
        case RIGHT -> new Result(Verdict.RIGHT, requireNonNull(user).name(), null, Duration.ZERO);
        case CLOSED -> new Result(Verdict.CLOSED, null, decision.why(), Duration.ZERO);
        case WRONG, TOO_MANY, BUSY, NOT_YET -> Result.of(decision.verdict());
      };
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Result.of(Verdict.BUSY);
    } catch (TimeoutException | ExecutionException e) {
      return Result.of(Verdict.BUSY);
    }
  }

  /** True if requests have to name a user. */
  public boolean isRequired() {
    return access.users().isRequired();
  }

  /** Checks the password of a user. */
  public Result byPassword(String user, String password, InetAddress from) {
    if (!access.users().knowsUsers()) {
      return Result.of(Verdict.NOT_YET);
    }
    String name = access.users().spelled(user);
    Authentication.User known = access.users().find(name);
    List<PasswordVerifier> verifiers = known == null ? List.of() : known.passwords();
    if (directory.isFor(name, from)) {
      return byDirectory(name, password, known, from);
    }
    String digest = digest(BASIC, name, password);
    boolean allowed = access.rules().methods().allow(LoginMethod.SCRAM, name, from);
    String address = ClientAddresses.of(from);
    if (known != null && allowed && isRemembered(digest, verifiers)) {
      return right(known, new Attempt(name, address, BASIC));
    }
    if (!places.take(name, address)) {
      return Result.of(Verdict.BUSY);
    }
    try {
      return check(name, password, known, digest, address, allowed);
    } finally {
      places.giveBack(name, address);
    }
  }

  /** Has a directory check the password of a user, unless it was right some minutes ago. */
  private Result byDirectory(
      String name, String password, Authentication.@Nullable User known, InetAddress from) {
    DirectoryLogin.Shown shown =
        new DirectoryLogin.Shown(name, password, ClientAddresses.of(from), from);
    String digest = digest(DirectoryLogin.MECHANISM, name, password);
    if (known != null && isRemembered(digest, known.passwords())) {
      return right(known, shown.attempt());
    }
    if (!directoryPlaces.take(name, shown.address())) {
      return Result.of(Verdict.BUSY);
    }
    try {
      Duration wait = directory.delay(shown);
      if (wait.compareTo(LoginDelays.LONGEST_HELD) > 0 || !sleep(wait)) {
        access.listener().refused(shown.attempt(), Reason.TOO_MANY_FAILURES);
        return new Result(Verdict.TOO_MANY, null, null, wait);
      }
      CompletableFuture<DirectoryLogin.Decision> decided = new CompletableFuture<>();
      directory.check(shown, decided::complete);
      DirectoryLogin.Decision decision =
          decided.get(LONGEST_DIRECTORY_CHECK.toMillis(), TimeUnit.MILLISECONDS);
      Authentication.User user = decision.user();
      if (user == null) {
        return new Result(decision.verdict(), null, decision.why(), Duration.ZERO);
      }
      remember(digest, user.passwords());
      return new Result(Verdict.RIGHT, user.name(), null, Duration.ZERO);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Result.of(Verdict.BUSY);
    } catch (TimeoutException | ExecutionException e) {
      return Result.of(Verdict.BUSY);
    } finally {
      directoryPlaces.giveBack(name, shown.address());
    }
  }

  /** Takes a user at the word of its certificate, which was checked. */
  public Result byCertificate(String certified, InetAddress from) {
    if (!access.users().knowsUsers()) {
      return Result.of(Verdict.NOT_YET);
    }
    String name = access.users().spelled(certified);
    Attempt attempt = new Attempt(name, ClientAddresses.of(from), EXTERNAL);
    Authentication.User known = access.users().find(name);
    boolean allowed = access.rules().methods().allow(LoginMethod.CERT, name, from);
    if (known == null || !allowed) {
      access
          .listener()
          .refused(attempt, known == null ? Reason.WRONG_CERTIFICATE : Reason.NOT_ALLOWED);
      return Result.of(Verdict.WRONG);
    }
    String digest = digest(EXTERNAL, name, attempt.address());
    if (!isRemembered(digest, known.passwords())) {
      return proven(known, digest, attempt);
    }
    return right(known, attempt);
  }

  private Result proven(Authentication.User user, String digest, Attempt attempt) {
    if (user.closed() == null) {
      remember(digest, user.passwords());
      access.listener().loggedIn(attempt);
    }
    return right(user, attempt);
  }

  /** The answer to a user that is who it says. */
  private Result right(Authentication.User user, Attempt attempt) {
    if (user.closed() == null) {
      return new Result(Verdict.RIGHT, user.name(), null, Duration.ZERO);
    }
    access.listener().refused(attempt, Reason.CLOSED);
    return new Result(Verdict.CLOSED, null, user.closed(), Duration.ZERO);
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
    Duration wait = delays.enter(name, address);
    if (wait.compareTo(LoginDelays.LONGEST_HELD) > 0 || !sleep(wait)) {
      access.listener().refused(attempt, Reason.TOO_MANY_FAILURES);
      return new Result(Verdict.TOO_MANY, null, null, wait);
    }
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
    return proven(known, digest, attempt);
  }

  private static boolean sleep(Duration wait) {
    try {
      TimeUnit.NANOSECONDS.sleep(wait.toNanos());
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
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

  private boolean isRemembered(String digest, List<PasswordVerifier> verifiers) {
    synchronized (remembered) {
      Remembered found = remembered.get(digest);
      if (found == null) {
        return false;
      }
      boolean valid =
          found.untilNanos() - access.nanos().getAsLong() > 0
              && found.verifiers().equals(verifiers);
      if (!valid) {
        remembered.remove(digest);
      }
      return valid;
    }
  }

  private void remember(String digest, List<PasswordVerifier> verifiers) {
    synchronized (remembered) {
      remembered.put(
          digest, new Remembered(verifiers, access.nanos().getAsLong() + REMEMBERED.toNanos()));
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
