package dev.tollgate.seal;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HKDF with HMAC-SHA-256 (RFC 5869), for keys of one block. */
final class Hkdf {
  private static final String HMAC = "HmacSHA256";

  /** Bytes of a derived key: one block of SHA-256, and a key of AES-256. */
  static final int KEY_BYTES = 32;

  private Hkdf() {}

  /**
   * Derives a key.
   *
   * @param secret stays as it is
   * @param salt not empty
   * @param info what the key is for
   */
  static byte[] derive(byte[] secret, byte[] salt, String info) {
    byte[] extracted = {};
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(salt, HMAC));
      extracted = mac.doFinal(secret);
      mac.init(new SecretKeySpec(extracted, HMAC));
      mac.update(info.getBytes(StandardCharsets.US_ASCII));
      mac.update((byte) 1);
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + HMAC, e);
    } finally {
      Arrays.fill(extracted, (byte) 0);
    }
  }
}
