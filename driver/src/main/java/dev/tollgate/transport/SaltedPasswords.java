package dev.tollgate.transport;

import dev.tollgate.wire.ScramKeys;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The salted passwords that this process has derived. A derivation takes as long as thousands of
 * statements, so the next connections of a user use the first one's. Thread-safe.
 */
final class SaltedPasswords {
  /** Most derivations that are kept; then the one that was used longest ago is dropped. */
  static final int MAX_KEPT = 100;

  /** Derives a salted password. */
  interface Derivation {
    byte[] derive(String password, byte[] salt, int iterations);
  }

  private final Derivation derivation;

  /** Keyed by digests, so that no password is kept here. */
  private final Map<ByteBuffer, byte[]> kept = new LinkedHashMap<>(16, 0.75f, true);

  SaltedPasswords() {
    this(ScramKeys::saltedPassword);
  }

  SaltedPasswords(Derivation derivation) {
    this.derivation = derivation;
  }

  /**
   * Returns the salted password. One derivation runs at a time: connections that are opened
   * together wait for the first one's.
   *
   * @throws IllegalArgumentException as {@link ScramKeys#saltedPassword}
   */
  synchronized byte[] get(String password, byte[] salt, int iterations) {
    ByteBuffer key = key(password, salt, iterations);
    byte[] known = kept.get(key);
    if (known == null) {
      known = derivation.derive(password, salt, iterations);
      kept.put(key, known);
      if (kept.size() > MAX_KEPT) {
        kept.remove(kept.keySet().iterator().next());
      }
    }
    return known.clone();
  }

  private static ByteBuffer key(String password, byte[] salt, int iterations) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(ByteBuffer.allocate(8).putInt(iterations).putInt(salt.length).array());
      digest.update(salt);
      return ByteBuffer.wrap(digest.digest(password.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }
}
