package dev.tollgate.seal;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.regex.Pattern;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/** One data key, with its name. Nothing is encrypted with the key itself, but with derived ones. */
final class DataKey {
  /** Characters of an id. */
  static final int MOST_ID_CHARS = 32;

  /** Bytes of a key. */
  static final int BYTES = 32;

  private static final Pattern ID = Pattern.compile("[A-Za-z0-9._-]{1," + MOST_ID_CHARS + "}");
  private static final byte[] NO_SALT = new byte[Hkdf.KEY_BYTES];

  private final String id;
  private final byte[] secret;
  private final int fingerprint;

  /**
   * @param secret belongs to this object from now on
   */
  DataKey(String id, byte[] secret) {
    this.id = requireNonNull(id, "id");
    this.secret = requireNonNull(secret, "secret");
    if (!ID.matcher(id).matches() || secret.length != BYTES) {
      throw new IllegalArgumentException("data key '" + id + "'");
    }
    byte[] derived = Hkdf.derive(secret, NO_SALT, "tollgate fingerprint 1");
    fingerprint = ByteBuffer.wrap(derived).getInt();
  }

  static boolean isId(String text) {
    return ID.matcher(text).matches();
  }

  String id() {
    return id;
  }

  /** Tells a wrong key from an altered text; says nothing of use about the key. */
  int fingerprint() {
    return fingerprint;
  }

  SecretKey derive(byte[] salt, String purpose) {
    byte[] derived = Hkdf.derive(secret, salt, purpose);
    try {
      return new SecretKeySpec(derived, "AES");
    } finally {
      Arrays.fill(derived, (byte) 0);
    }
  }

  boolean isSameAs(DataKey other) {
    return id.equals(other.id) && Arrays.equals(secret, other.secret);
  }

  boolean hasSameSecretAs(DataKey other) {
    return Arrays.equals(secret, other.secret);
  }

  @Override
  public String toString() {
    return id;
  }
}
