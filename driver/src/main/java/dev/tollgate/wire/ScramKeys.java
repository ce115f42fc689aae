package dev.tollgate.wire;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The keys of SCRAM-SHA-256, and how each follows from another (RFC 5802, section 3). */
public final class ScramKeys {
  /** Bytes of a key, of a proof and of a signature. */
  public static final int KEY_BYTES = 32;

  private static final String HMAC = "HmacSHA256";
  private static final int INT_BYTES = 4;

  private ScramKeys() {}

  /**
   * Derives the salted password (PBKDF2 with HMAC-SHA-256). It takes about a millisecond for each
   * 2,000 iterations.
   *
   * @throws IllegalArgumentException if the password is empty or has a prohibited character, or if
   *     the salt or the iterations are outside the bounds of {@link PasswordVerifier}
   */
  public static byte[] saltedPassword(String password, byte[] salt, int iterations) {
    PasswordVerifier.requireBounds(salt, iterations);
    Mac mac = mac(SaslPrep.prepare(password).getBytes(StandardCharsets.UTF_8));
    mac.update(salt);
    byte[] block = new byte[INT_BYTES];
    block[INT_BYTES - 1] = 1;
    byte[] last = mac.doFinal(block);
    byte[] sum = last.clone();
    for (int i = 1; i < iterations; i++) {
      last = mac.doFinal(last);
      for (int j = 0; j < KEY_BYTES; j++) {
        sum[j] ^= last[j];
      }
    }
    return sum;
  }

  /**
   * Returns the salt that a user would have who does not exist: for one key and one name always the
   * same.
   */
  public static byte[] decoySalt(byte[] key, String user) {
    return Arrays.copyOf(hmac(key, user), PasswordVerifier.SALT_BYTES);
  }

  static byte[] clientKey(byte[] saltedPassword) {
    return hmac(saltedPassword, "Client Key");
  }

  static byte[] serverKey(byte[] saltedPassword) {
    return hmac(saltedPassword, "Server Key");
  }

  static byte[] storedKey(byte[] clientKey) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(clientKey);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }

  static byte[] hmac(byte[] key, String text) {
    return mac(key).doFinal(StrictUtf8.encode(text));
  }

  static byte[] xor(byte[] left, byte[] right) {
    byte[] result = left.clone();
    for (int i = 0; i < result.length; i++) {
      result[i] ^= right[i];
    }
    return result;
  }

  private static Mac mac(byte[] key) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(key, HMAC));
      return mac;
    } catch (InvalidKeyException e) {
      throw new IllegalArgumentException("no key for " + HMAC, e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has " + HMAC, e);
    }
  }
}
