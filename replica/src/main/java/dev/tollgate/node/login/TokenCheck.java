package dev.tollgate.node.login;

import static java.util.Objects.requireNonNull;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyType;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.tollgate.core.command.Limits;
import dev.tollgate.tls.TlsCredentials;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Checks tokens, which are JWTs (RFC 7519, 8725): the signature of the issuer, for this audience,
 * and now. Knows nothing of the users of the cluster. Thread-safe; threads of its own do the work.
 */
public final class TokenCheck implements AutoCloseable {
  /**
   * What a token says.
   *
   * @param user for whom the token stands, as the cluster spells it; null if the token is refused
   * @param until when it ends, with the difference that clocks may have; null as the user
   * @param refusal why it is refused, without a word of the token; null if it is not
   * @param temporary whether the same token may be taken a moment later
   */
  public record Verdict(
      @Nullable String user, @Nullable Instant until, @Nullable String refusal, boolean temporary) {
    static Verdict refused(String why) {
      return new Verdict(null, null, why, /* temporary= */ false);
    }

    static Verdict notNow(String why) {
      return new Verdict(null, null, why, /* temporary= */ true);
    }
  }

  /** Signatures with a public key. No "none", and nothing with a secret that both sides know. */
  private static final Set<JWSAlgorithm> ALGORITHMS =
      Set.of(
          JWSAlgorithm.RS256,
          JWSAlgorithm.RS384,
          JWSAlgorithm.RS512,
          JWSAlgorithm.PS256,
          JWSAlgorithm.PS384,
          JWSAlgorithm.PS512,
          JWSAlgorithm.ES256,
          JWSAlgorithm.ES384,
          JWSAlgorithm.ES512);

  /** What a token may say that it is; a logout token, for one, is signed by the same keys. */
  private static final Set<String> TYPES = Set.of("jwt", "at+jwt", "application/at+jwt");

  /** Claims that are times. */
  private static final List<String> TIMES = List.of("exp", "nbf", "iat");

  private static final String NO_TOKEN = "it is no signed JWT";

  private static final Duration LONGEST = Duration.ofDays(365);
  private static final int THREADS = 2;
  private static final long IDLE_SECONDS = 30;

  private final TokenSettings settings;
  private final KeySource keys;
  private final @Nullable WatchedFile<TokenUsers> users;
  private final Clock clock;
  private final ThreadPoolExecutor threads;

  private TokenCheck(
      TokenSettings settings,
      KeySource keys,
      @Nullable WatchedFile<TokenUsers> users,
      Clock clock,
      ThreadFactory factory) {
    this.settings = requireNonNull(settings, "settings");
    this.keys = requireNonNull(keys, "keys");
    this.users = users;
    this.clock = requireNonNull(clock, "clock");
    this.threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(Limits.TOKEN_CHECKS + Limits.TOKENS_AWAITING_KEYS),
            factory);
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Reads the files that the settings name.
   *
   * @param clock as the issuer's, nearly
   * @param nanos a clock that does not go back
   * @param listener is told what becomes of files and keys
   * @throws IOException if a file cannot be used
   */
  static TokenCheck of(
      TokenSettings settings, Clock clock, LongSupplier nanos, TlsCredentials.Listener listener)
      throws IOException {
    ThreadFactory factory = new DefaultThreadFactory("tollgate-tokens", /* daemon= */ true);
    Path mapping = settings.users();
    return new TokenCheck(
        settings,
        settings.hasServer()
            ? new KeyServer(settings.keys(), settings.keysTrust(), nanos, listener, factory)
            : new KeySource.OfFile(
                new WatchedFile<>(
                    "the keys for tokens", Path.of(settings.keys()), IssuerKeys::read, listener)),
        mapping == null
            ? null
            : new WatchedFile<>("the users of tokens", mapping, TokenUsers::read, listener),
        clock,
        factory);
  }

  /**
   * After which time the connection of a login ends, at most a year; null if it goes on.
   *
   * @param verdict of a token that was right
   */
  public @Nullable Duration left(Verdict verdict) {
    Instant until = verdict.until();
    if (until == null || !settings.endsConnections()) {
      return null;
    }
    // a timer counts no further
    Instant now = clock.instant();
    Instant most = now.plus(LONGEST);
    return Duration.between(now, until.isBefore(most) ? until : most);
  }

  /**
   * Checks a token. Does not wait.
   *
   * @param mayWait asked at most once, when the key of the token is not known and is being fetched,
   *     on a thread of this class: true if the answer may come after that, false if the token is
   *     refused for now
   * @param answer is called once, on a thread of this class or on this one
   */
  public void check(String token, BooleanSupplier mayWait, Consumer<Verdict> answer) {
    execute(() -> examine(token, mayWait, answer), answer);
  }

  private void execute(Runnable work, Consumer<Verdict> answer) {
    try {
      threads.execute(work);
    } catch (RejectedExecutionException e) {
      answer.accept(Verdict.notNow("too many tokens wait to be checked: try again"));
    }
  }

  private void examine(String token, BooleanSupplier mayWait, Consumer<Verdict> answer) {
    Verdict verdict;
    try {
      SignedJWT jwt = SignedJWT.parse(token);
      requireOneSpelling(jwt, token);
      String strange = strange(jwt.getHeader());
      CompletableFuture<Boolean> fetched =
          strange != null || key(jwt.getHeader()) != null
              ? CompletableFuture.completedFuture(true)
              : keys.again();
      if (strange != null) {
        verdict = Verdict.refused(strange);
      } else if (fetched.isDone()) {
        verdict = decide(jwt, fetched.getNow(false));
      } else if (mayWait.getAsBoolean()) {
        var unused =
            fetched.thenAccept(found -> execute(() -> answer.accept(decide(jwt, found)), answer));
        return;
      } else {
        verdict =
            Verdict.notNow("its key is not known to this node, which fetches keys: try again");
      }
    } catch (ParseException | RuntimeException | StackOverflowError e) {
      verdict = Verdict.refused(NO_TOKEN);
    }
    answer.accept(verdict);
  }

  /**
   * Base64 can be spelled in several ways: with padding, or with bits that mean nothing. A token
   * has one text, by which it is remembered.
   */
  private static void requireOneSpelling(SignedJWT jwt, String token) throws ParseException {
    StringJoiner spelled = new StringJoiner(".");
    for (Base64URL part : jwt.getParsedParts()) {
      spelled.add(Base64URL.encode(part.decode()).toString());
    }
    if (!spelled.toString().equals(token)) {
      throw new ParseException("the Base64 of the token is not the shortest", 0);
    }
  }

  /** Says what is wrong with a header; null if nothing is. */
  private static @Nullable String strange(JWSHeader header) {
    if (!ALGORITHMS.contains(header.getAlgorithm())) {
      return "it is signed in a way that this node does not take: RS, PS and ES with 256, 384 or"
          + " 512 are taken";
    }
    Set<String> critical = header.getCriticalParams();
    if (critical != null && !critical.isEmpty()) {
      return "its header demands what this node does not know";
    }
    JOSEObjectType type = header.getType();
    return type == null || TYPES.contains(type.getType().toLowerCase(Locale.ROOT))
        ? null
        : "it is a token for something else than access";
  }

  /** The key that may have signed; null for none. Without the id of a key, one has to be alone. */
  private @Nullable JWK key(JWSHeader header) {
    IssuerKeys known = keys.current();
    KeyType type = KeyType.forAlgorithm(header.getAlgorithm());
    String id = header.getKeyID();
    List<JWK> fitting =
        known == null
            ? List.of()
            : known.keys().stream()
                .filter(key -> key.getKeyType().equals(type))
                .filter(
                    key ->
                        key.getAlgorithm() == null
                            || key.getAlgorithm().equals(header.getAlgorithm()))
                .filter(key -> id == null || id.equals(key.getKeyID()))
                .toList();
    return fitting.size() == 1 ? fitting.get(0) : null;
  }

  /**
   * @param fetched whether a key that is not known now is none of the issuer
   */
  private Verdict decide(SignedJWT jwt, boolean fetched) {
    try {
      JWK key = key(jwt.getHeader());
      if (key != null) {
        return decide(jwt, key);
      }
      if (keys.current() == null) {
        return Verdict.notNow("the keys of the issuer are not known to this node: try again");
      }
      return fetched
          ? Verdict.refused("it is signed with a key that the issuer does not have")
          : Verdict.notNow(
              "its key is not known to this node, which could not fetch keys: try again");
    } catch (ParseException | JOSEException | RuntimeException | StackOverflowError e) {
      return Verdict.refused(NO_TOKEN);
    }
  }

  private Verdict decide(SignedJWT jwt, JWK key) throws ParseException, JOSEException {
    if (!jwt.verify(verifier(key))) {
      return Verdict.refused("its signature is wrong");
    }
    String noTime = noTime(jwt.getPayload().toJSONObject());
    if (noTime != null) {
      return Verdict.refused(noTime);
    }
    JWTClaimsSet claims = jwt.getJWTClaimsSet();
    String wrong = wrong(claims);
    if (wrong != null) {
      return Verdict.refused(wrong);
    }
    String user = user(claims);
    return user == null
        ? Verdict.refused("its claim " + settings.claim() + " stands for no user")
        : new Verdict(user, end(claims), null, /* temporary= */ false);
  }

  /**
   * Says which claim is no time; null if there is none. The library multiplies seconds without a
   * look at the range, so a large number would become another time.
   */
  private static @Nullable String noTime(@Nullable Map<String, Object> claims) {
    for (String name : TIMES) {
      Object time = claims == null ? null : claims.get(name);
      if (time instanceof Number seconds
          && !(seconds.doubleValue() >= 0 && seconds.doubleValue() <= Limits.TOKEN_TIME_SECONDS)) {
        return "its claim "
            + name
            + " is no time: a number of seconds since 1970 is from 0 to "
            + Limits.TOKEN_TIME_SECONDS;
      }
    }
    return null;
  }

  private static JWSVerifier verifier(JWK key) throws JOSEException {
    return key instanceof RSAKey rsa ? new RSASSAVerifier(rsa) : new ECDSAVerifier((ECKey) key);
  }

  /** Says what is wrong with claims that the issuer has signed; null if nothing is. */
  private @Nullable String wrong(JWTClaimsSet claims) {
    Instant now = clock.instant();
    Duration skew = settings.clockSkew();
    Date notBefore = claims.getNotBeforeTime();
    if (!settings.issuer().equals(claims.getIssuer())) {
      return "it is of another issuer";
    }
    if (!claims.getAudience().contains(settings.audience())) {
      return "it is for another audience";
    }
    if (claims.getExpirationTime() == null) {
      return "it has no end: the claim exp is missing";
    }
    if (!now.isBefore(end(claims))) {
      return "it has expired";
    }
    if (notBefore != null && now.plus(skew).isBefore(notBefore.toInstant())) {
      return "it is not valid yet: look at the clocks of issuer and node";
    }
    return claims.getClaims().containsKey("cnf")
        ? "it is bound to a key of the client, and this node takes bearer tokens"
        : null;
  }

  private Instant end(JWTClaimsSet claims) {
    return claims.getExpirationTime().toInstant().plus(settings.clockSkew());
  }

  private @Nullable String user(JWTClaimsSet claims) {
    if (!(claims.getClaim(settings.claim()) instanceof String name)) {
      return null;
    }
    return users == null ? TokenUsers.user(name) : users.content().userOf(name);
  }

  /** Reads files that have changed, and has keys fetched. */
  void refresh() {
    keys.refresh();
    if (users != null) {
      users.refresh();
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    keys.close();
  }
}
