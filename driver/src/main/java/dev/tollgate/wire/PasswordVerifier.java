package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a cluster keeps of a password: enough to check a client that knows the password, and not
 * enough to log in (RFC 5802, section 3). Its text is that of PostgreSQL, {@code
 * SCRAM-SHA-256$iterations:salt$storedKey:serverKey}. Immutable.
 */
public final class PasswordVerifier {
  /** Iterations of a new verifier. */
  public static final int DEFAULT_ITERATIONS = 100_000;

  /** The fewest iterations that RFC 7677 allows. */
  public static final int MIN_ITERATIONS = 4_096;

  /** The most iterations: a node must not keep its clients computing for long. */
  public static final int MAX_ITERATIONS = 1_000_000;

  /** Bytes of a new salt. */
  public static final int SALT_BYTES = 16;

  private static final int MIN_SALT_BYTES = 8;
  private static final int MAX_SALT_BYTES = 64;
  private static final String MECHANISM = "SCRAM-SHA-256";
  private static final int MAX_TEXT = 300;
  private static final Pattern TEXT =
      Pattern.compile(
          "SCRAM-SHA-256\\$(\\d{1,7}):([A-Za-z0-9+/=]+)\\$([A-Za-z0-9+/=]+):([A-Za-z0-9+/=]+)");

  private static final SecureRandom RANDOM = new SecureRandom();

  private final byte[] salt;
  private final int iterations;
  private final byte[] storedKey;
  private final byte[] serverKey;

  private PasswordVerifier(byte[] salt, int iterations, byte[] storedKey, byte[] serverKey) {
    requireBounds(salt, iterations);
    requireKey("stored key", storedKey);
    requireKey("server key", serverKey);
    this.salt = salt;
    this.iterations = iterations;
    this.storedKey = storedKey;
    this.serverKey = serverKey;
  }

  /**
   * Makes the verifier of a password.
   *
   * @throws IllegalArgumentException as {@link ScramKeys#saltedPassword}
   */
  public static PasswordVerifier of(String password, byte[] salt, int iterations) {
    byte[] salted =
        ScramKeys.saltedPassword(requireNonNull(password, "password"), salt, iterations);
    return new PasswordVerifier(
        salt.clone(),
        iterations,
        ScramKeys.storedKey(ScramKeys.clientKey(salted)),
        ScramKeys.serverKey(salted));
  }

  /** Makes the verifier of a first password, with a salt of its own. */
  public static PasswordVerifier of(String password) {
    byte[] salt = new byte[SALT_BYTES];
    RANDOM.nextBytes(salt);
    return of(password, salt, DEFAULT_ITERATIONS);
  }

  /** Makes the verifier of another password of the same user, valid beside this verifier. */
  public PasswordVerifier beside(String password) {
    return of(password, salt, iterations);
  }

  /** Makes a verifier that no password fits, for users that do not exist. */
  static PasswordVerifier ofNobody(byte[] salt, int iterations) {
    return new PasswordVerifier(
        salt.clone(), iterations, new byte[ScramKeys.KEY_BYTES], new byte[ScramKeys.KEY_BYTES]);
  }

  /**
   * Reads {@link #text}.
   *
   * @throws IllegalArgumentException if it is no verifier, or is outside the bounds; the message
   *     does not quote the text
   */
  public static PasswordVerifier parse(String text) {
    Matcher matcher = TEXT.matcher(text.length() <= MAX_TEXT ? text : "");
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "a password verifier is SCRAM-SHA-256$iterations:salt$storedKey:serverKey");
    }
    return new PasswordVerifier(
        decoded(matcher.group(2)),
        Integer.parseInt(matcher.group(1)),
        decoded(matcher.group(3)),
        decoded(matcher.group(4)));
  }

  private static byte[] decoded(String base64) {
    byte[] bytes = Base64.getDecoder().decode(base64);
    if (!Base64.getEncoder().encodeToString(bytes).equals(base64)) {
      throw new IllegalArgumentException("a password verifier has Base64 with padding");
    }
    return bytes;
  }

  static void requireBounds(byte[] salt, int iterations) {
    if (salt.length < MIN_SALT_BYTES || salt.length > MAX_SALT_BYTES) {
      throw new IllegalArgumentException(
          "a salt has " + MIN_SALT_BYTES + " to " + MAX_SALT_BYTES + " bytes, not " + salt.length);
    }
    if (iterations < MIN_ITERATIONS || iterations > MAX_ITERATIONS) {
      throw new IllegalArgumentException(
          "a password has "
              + MIN_ITERATIONS
              + " to "
              + MAX_ITERATIONS
              + " iterations, not "
              + iterations);
    }
  }

  private static void requireKey(String name, byte[] key) {
    if (key.length != ScramKeys.KEY_BYTES) {
      throw new IllegalArgumentException(
          "a " + name + " has " + ScramKeys.KEY_BYTES + " bytes, not " + key.length);
    }
  }

  public byte[] salt() {
    return salt.clone();
  }

  public int iterations() {
    return iterations;
  }

  /** True if one proof can be checked against both: a client computes with one salt. */
  public boolean isBeside(PasswordVerifier other) {
    return iterations == other.iterations && MessageDigest.isEqual(salt, other.salt);
  }

  /** True if a client that made this proof knows the password. */
  boolean accepts(byte[] proof, String authMessage) {
    byte[] clientKey = ScramKeys.xor(proof, ScramKeys.hmac(storedKey, authMessage));
    return MessageDigest.isEqual(ScramKeys.storedKey(clientKey), storedKey);
  }

  /** Proves to the client that this side has the verifier. */
  byte[] signature(String authMessage) {
    return ScramKeys.hmac(serverKey, authMessage);
  }

  /** The text that {@link #parse} reads. */
  public String text() {
    Base64.Encoder encoder = Base64.getEncoder();
    return MECHANISM
        + "$"
        + iterations
        + ":"
        + encoder.encodeToString(salt)
        + "$"
        + encoder.encodeToString(storedKey)
        + ":"
        + encoder.encodeToString(serverKey);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PasswordVerifier that
        && isBeside(that)
        && MessageDigest.isEqual(storedKey, that.storedKey)
        && MessageDigest.isEqual(serverKey, that.serverKey);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(salt);
  }

  /** Without the keys: a verifier is a secret too. */
  @Override
  public String toString() {
    return "verifier of " + iterations + " iterations";
  }
}
