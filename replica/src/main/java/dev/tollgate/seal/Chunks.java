package dev.tollgate.seal;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import org.jspecify.annotations.Nullable;

/**
 * AES-256-GCM of a file in chunks.
 *
 * <p>The nonce of a chunk is its number and whether it is the last one; the header of the file is
 * authenticated with every chunk. So chunks cannot be exchanged, left out, repeated or taken from
 * another file, and the end cannot be cut off (Hoang, Reyhanitabar, Rogaway, Vizár: Online
 * Authenticated Encryption and its Nonce-Reuse Misuse-Resistance, CRYPTO 2015, the STREAM
 * construction). Every chunk but the last is full. A key is used for one file alone.
 */
public final class Chunks {
  /** Bytes of a full chunk before it is sealed. */
  public static final int CHUNK_BYTES = 1 << 20;

  /** By how much a sealed chunk is longer. */
  public static final int TAG_BYTES = 16;

  static final int NONCE_BYTES = 12;

  private Chunks() {}

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
    return crypt(mode, key, nonce, header, bytes, 0, length);
  }

  /**
   * Encrypts or decrypts bytes.
   *
   * @param bound is authenticated with them
   * @return null if they are not what was encrypted
   */
  static byte @Nullable [] crypt(
      int mode, SecretKey key, byte[] nonce, byte[] bound, byte[] bytes, int offset, int length) {
    if (mode == Cipher.DECRYPT_MODE && length < TAG_BYTES) {
      return null;
    }
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(mode, key, new GCMParameterSpec(8 * TAG_BYTES, nonce));
      cipher.updateAAD(bound);
      return cipher.doFinal(bytes, offset, length);
    } catch (AEADBadTagException e) {
      return null;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has AES/GCM/NoPadding", e);
    }
  }

  /** Returns how many bytes were sealed into so many, the header not counted. */
  static long plainBytes(long sealedBytes) {
    long full = CHUNK_BYTES + TAG_BYTES;
    long chunks = Math.max(1, (sealedBytes + full - 1) / full);
    return sealedBytes - chunks * TAG_BYTES;
  }
}
