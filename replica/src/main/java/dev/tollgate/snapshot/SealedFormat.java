package dev.tollgate.snapshot;

import dev.tollgate.seal.ChunkInput;
import dev.tollgate.seal.Chunks;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * The bytes of an encrypted backup: a header, then chunks.
 *
 * <pre>
 * header  "TGEB", version u16 = 1, key derivation u8 = 1 (PBKDF2-HMAC-SHA256),
 *         cipher u8 = 1 (AES-256-GCM), iterations i32, chunk bytes i32, salt 16 bytes
 * chunk   ciphertext of at most that many bytes, tag 16 bytes
 * </pre>
 *
 * <p>{@link Chunks} says how chunks are encrypted. A key is used for one file, because each file
 * has its own salt.
 */
final class SealedFormat {
  static final byte[] MAGIC = {'T', 'G', 'E', 'B'};
  static final int HEADER_BYTES = 32;

  /** What OWASP asks of PBKDF2-HMAC-SHA256 (Password Storage Cheat Sheet, 2023). */
  static final int ITERATIONS = 600_000;

  /** A file must not keep its reader busy for minutes before it is known to be authentic. */
  static final int MOST_ITERATIONS = 20_000_000;

  static final int SALT_BYTES = 16;

  private static final int VERSION = 1;
  private static final int PBKDF2 = 1;
  private static final int AES_GCM = 1;

  private SealedFormat() {}

  static byte[] header(byte[] salt) {
    return ByteBuffer.allocate(HEADER_BYTES)
        .put(MAGIC)
        .putShort((short) VERSION)
        .put((byte) PBKDF2)
        .put((byte) AES_GCM)
        .putInt(ITERATIONS)
        .putInt(Chunks.CHUNK_BYTES)
        .put(salt)
        .array();
  }

  /** What a header says, if this version knows it. */
  @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
  record Header(int iterations, byte[] salt) {
    static Header read(byte[] bytes) throws CorruptSnapshotException {
      ByteBuffer in = ByteBuffer.wrap(bytes, MAGIC.length, HEADER_BYTES - MAGIC.length);
      int version = in.getShort();
      if (version != VERSION) {
        throw UnknownVersionException.ofSealed(version, VERSION);
      }
      int derivation = in.get();
      int cipher = in.get();
      int iterations = in.getInt();
      int chunkBytes = in.getInt();
      byte[] salt = new byte[SALT_BYTES];
      in.get(salt);
      if (derivation != PBKDF2
          || cipher != AES_GCM
          || chunkBytes != Chunks.CHUNK_BYTES
          || iterations < ITERATIONS
          || iterations > MOST_ITERATIONS) {
        throw new CorruptSnapshotException("the header of the encrypted backup is damaged");
      }
      return new Header(iterations, salt);
    }
  }

  /**
   * Decrypts what {@link SealedOutput} has written.
   *
   * @param in closed with the returned stream
   * @throws CorruptSnapshotException if the beginning is damaged; reading throws it later on
   */
  static InputStream open(InputStream in, Passphrase passphrase) throws IOException {
    byte[] header = in.readNBytes(HEADER_BYTES);
    if (header.length < HEADER_BYTES) {
      throw new CorruptSnapshotException("the encrypted backup is cut off in its header");
    }
    Header read = Header.read(header);
    return new ChunkInput(
        in,
        header,
        passphrase.key(read.salt(), read.iterations()),
        number ->
            new CorruptSnapshotException(
                number == 0
                    ? "the passphrase is wrong, or the encrypted backup is damaged at its beginning"
                    : "the encrypted backup is damaged or cut off in its mebibyte "
                        + (number + 1)));
  }
}
