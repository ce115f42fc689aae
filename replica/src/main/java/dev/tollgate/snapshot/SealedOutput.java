package dev.tollgate.snapshot;

import dev.tollgate.seal.ChunkOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.security.SecureRandom;

/**
 * Encrypts what is written to it ({@link SealedFormat}). The file is complete only after {@link
 * #finish}. Keeps one chunk in memory. Not thread-safe.
 */
public final class SealedOutput extends ChunkOutput {
  private static final SecureRandom RANDOM = new SecureRandom();

  /**
   * Writes the header.
   *
   * @param out stays open
   */
  public SealedOutput(OutputStream out, Passphrase passphrase) throws IOException {
    this(out, passphrase, newSalt());
  }

  /** Writes a file whose key tests need not derive again. */
  SealedOutput(OutputStream out, Passphrase passphrase, byte[] salt) throws IOException {
    super(out, SealedFormat.header(salt), passphrase.key(salt, SealedFormat.ITERATIONS));
  }

  private static byte[] newSalt() {
    byte[] salt = new byte[SealedFormat.SALT_BYTES];
    RANDOM.nextBytes(salt);
    return salt;
  }
}
