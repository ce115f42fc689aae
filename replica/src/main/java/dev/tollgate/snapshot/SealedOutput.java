package dev.tollgate.snapshot;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.OutputStream;
import java.security.SecureRandom;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;

/**
 * Encrypts what is written to it ({@link SealedFormat}). The file is complete only after {@link
 * #finish}. Keeps one chunk in memory. Not thread-safe.
 */
public final class SealedOutput extends OutputStream {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final OutputStream out;
  private final SecretKey key;
  private final byte[] header;
  private final byte[] chunk = new byte[SealedFormat.CHUNK_BYTES];
  private int filled;
  private int number;

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
    this.out = requireNonNull(out, "out");
    header = SealedFormat.header(salt);
    key = passphrase.key(salt, SealedFormat.ITERATIONS);
    out.write(header);
  }

  private static byte[] newSalt() {
    byte[] salt = new byte[SealedFormat.SALT_BYTES];
    RANDOM.nextBytes(salt);
    return salt;
  }

  @Override
  public void write(int next) throws IOException {
    write(new byte[] {(byte) next}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    int from = offset;
    int left = length;
    while (left > 0) {
      if (filled == chunk.length) {
        seal(/* last= */ false);
      }
      int part = Math.min(left, chunk.length - filled);
      System.arraycopy(bytes, from, chunk, filled, part);
      filled += part;
      from += part;
      left -= part;
    }
  }

  /** Writes the last chunk; nothing may follow. */
  public void finish() throws IOException {
    seal(/* last= */ true);
    out.flush();
  }

  private void seal(boolean last) throws IOException {
    if (number < 0) {
      throw new IOException("the backup is too large to be encrypted");
    }
    out.write(
        requireNonNull(
            SealedFormat.chunk(Cipher.ENCRYPT_MODE, key, header, number, last, chunk, filled)));
    number++;
    filled = 0;
  }
}
