package dev.tollgate.snapshot;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of an encrypted backup: a header, then chunks.
 *
 * <pre>
 * header  "TGEB", version u16 = 1, key derivation u8 = 1 (PBKDF2-HMAC-SHA256),
 *         cipher u8 = 1 (AES-256-GCM), iterations i32, chunk bytes i32, salt 16 bytes
 * chunk   ciphertext of at most that many bytes, tag 16 bytes
 * </pre>
 *
 * <p>The nonce of a chunk is its number and whether it is the last one; the header is authenticated
 * with every chunk. So chunks cannot be exchanged, left out, repeated or taken from another file,
 * and the end cannot be cut off (Hoang, Reyhanitabar, Rogaway, Vizár: Online Authenticated
 * Encryption and its Nonce-Reuse Misuse-Resistance, CRYPTO 2015, the STREAM construction). Every
 * chunk but the last is full. A key is used for one file, because each file has its own salt.
 */
final class SealedFormat {
  static final byte[] MAGIC = {'T', 'G', 'E', 'B'};
  static final int HEADER_BYTES = 32;
  static final int TAG_BYTES = 16;

  /** What OWASP asks of PBKDF2-HMAC-SHA256 (Password Storage Cheat Sheet, 2023). */
  static final int ITERATIONS = 600_000;

  /** A file must not keep its reader busy for minutes before it is known to be authentic. */
  static final int MOST_ITERATIONS = 20_000_000;

  static final int CHUNK_BYTES = 1 << 20;
  static final int SALT_BYTES = 16;

  private static final int VERSION = 1;
  private static final int PBKDF2 = 1;
  private static final int AES_GCM = 1;
  private static final int NONCE_BYTES = 12;

  private SealedFormat() {}

  static byte[] header(byte[] salt) {
    return ByteBuffer.allocate(HEADER_BYTES)
        .put(MAGIC)
        .putShort((short) VERSION)
        .put((byte) PBKDF2)
        .put((byte) AES_GCM)
        .putInt(ITERATIONS)
        .putInt(CHUNK_BYTES)
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
          || chunkBytes != CHUNK_BYTES
          || iterations < ITERATIONS
          || iterations > MOST_ITERATIONS) {
        throw new CorruptSnapshotException("the header of the encrypted backup is damaged");
      }
      return new Header(iterations, salt);
    }
  }

  /**
   * Encrypts or decrypts a chunk.
   *
   * @param mode {@link Cipher#ENCRYPT_MODE} or {@link Cipher#DECRYPT_MODE}
   * @param number of the chunk, from 0
   * @return null if a chunk to decrypt is not what was encrypted under this key, number and end
   */
  static byte @Nullable [] chunk(
      int mode, SecretKey key, byte[] header, int number, boolean last, byte[] bytes, int length) {
    byte[] nonce =
        ByteBuffer.allocate(NONCE_BYTES).putInt(7, number).put(11, (byte) (last ? 1 : 0)).array();
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(mode, key, new GCMParameterSpec(8 * TAG_BYTES, nonce));
      cipher.updateAAD(header);
      return cipher.doFinal(bytes, 0, length);
    } catch (AEADBadTagException e) {
      return null;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has AES/GCM/NoPadding", e);
    }
  }
}
