package dev.tollgate.seal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * Seals the lines of a text file, each for itself: a file that grows line by line can be read up to
 * its last whole line at any time.
 *
 * <pre>
 * TGL1 KEY-ID BASE64
 * </pre>
 *
 * <p>In Base64: fingerprint of the key i32, salt 16 bytes, count i64, ciphertext, tag 16 bytes. The
 * key is derived from the data key with a salt that is drawn for each {@link LineSeal}; the nonce
 * is the count, so no nonce comes twice under a key. What comes before the ciphertext is
 * authenticated. The order of lines is not: the text of the lines has to show it. Not thread-safe.
 */
public final class LineSeal {
  private static final String MAGIC = "TGL1 ";
  private static final String PURPOSE = "tollgate line 1";
  private static final int HEAD_BYTES = Integer.BYTES + DataKeys.SALT_BYTES + Long.BYTES;

  private final DataKey of;
  private final byte[] salt = DataKeys.newSalt();
  private final SecretKey key;
  private long sealed;

  private LineSeal(DataKey of) {
    this.of = requireNonNull(of, "of");
    this.key = of.derive(salt, PURPOSE);
  }

  /**
   * Returns a seal with the first of the keys.
   *
   * @throws IllegalStateException if there are no keys
   */
  public static LineSeal with(DataKeys keys) {
    return new LineSeal(keys.first());
  }

  /** The name of the key. */
  public String keyId() {
    return of.id();
  }

  /** Encrypts a line, which has no end. */
  public byte[] seal(byte[] line) {
    byte[] head =
        ByteBuffer.allocate(HEAD_BYTES).putInt(of.fingerprint()).put(salt).putLong(sealed).array();
    byte[] begin = (MAGIC + of.id() + ' ').getBytes(US_ASCII);
    byte[] text =
        requireNonNull(
            Chunks.crypt(
                Cipher.ENCRYPT_MODE,
                key,
                nonce(sealed),
                joined(begin, head),
                line,
                0,
                line.length));
    sealed++;
    byte[] encoded = Base64.getEncoder().encode(joined(head, text));
    return joined(begin, encoded);
  }

  /** How many bytes a line of so many bytes has once it is sealed. */
  public long sealedBytes(long lineBytes) {
    return MAGIC.length()
        + of.id().length()
        + 1
        + (lineBytes + HEAD_BYTES + Chunks.TAG_BYTES + 2) / 3 * 4;
  }

  /** True for a line that begins like a sealed one. */
  public static boolean isSealed(byte[] line) {
    return line.length >= MAGIC.length()
        && Arrays.equals(line, 0, MAGIC.length(), MAGIC.getBytes(US_ASCII), 0, MAGIC.length());
  }

  /** Returns the name of the key of a line; empty if the line is not sealed. */
  public static Optional<String> keyOf(byte[] line) {
    int end = isSealed(line) ? endOfId(line) : -1;
    return end < 0
        ? Optional.empty()
        : Optional.of(new String(line, MAGIC.length(), end - MAGIC.length(), US_ASCII));
  }

  private static int endOfId(byte[] line) {
    for (int at = MAGIC.length(); at < line.length; at++) {
      if (line[at] == ' ') {
        return at;
      }
    }
    return -1;
  }

  /**
   * Decrypts a line; returns a line that is not sealed as it is.
   *
   * @param what names the line in messages
   * @throws KeyMissingException if this process lacks the key
   * @throws AlteredException if this is not what was sealed
   */
  public static byte[] open(DataKeys keys, String what, byte[] line) throws IOException {
    if (!isSealed(line)) {
      return line;
    }
    int end = endOfId(line);
    byte @Nullable [] sealed = end < 0 ? null : decoded(line, end + 1);
    if (sealed == null || sealed.length < HEAD_BYTES) {
      throw new AlteredException(what + " was encrypted, and is damaged");
    }
    byte[] begin = Arrays.copyOf(line, end + 1);
    String keyId = new String(line, MAGIC.length(), end - MAGIC.length(), ISO_8859_1);
    ByteBuffer head = ByteBuffer.wrap(sealed);
    DataKey key = keys.require(what, keyId, head.getInt());
    byte[] salt = new byte[DataKeys.SALT_BYTES];
    head.get(salt);
    byte @Nullable [] plain =
        Chunks.crypt(
            Cipher.DECRYPT_MODE,
            keys.derived(key, salt, PURPOSE),
            nonce(head.getLong()),
            joined(begin, Arrays.copyOf(sealed, HEAD_BYTES)),
            sealed,
            HEAD_BYTES,
            sealed.length - HEAD_BYTES);
    if (plain == null) {
      throw new AlteredException(what, keyId);
    }
    return plain;
  }

  private static byte @Nullable [] decoded(byte[] line, int from) {
    try {
      return Base64.getDecoder().decode(Arrays.copyOfRange(line, from, line.length));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static byte[] nonce(long count) {
    return ByteBuffer.allocate(Chunks.NONCE_BYTES).putLong(Integer.BYTES, count).array();
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }
}
