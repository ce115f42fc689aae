package dev.tollgate.seal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import javax.crypto.Cipher;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a sealed log entry:
 *
 * <pre>
 * 0xE5, version u8 = 1, length of the key id u8, key id, fingerprint of the key i32,
 * salt 16 bytes, count i64, ciphertext, tag 16 bytes
 * </pre>
 *
 * <p>The key is derived from the data key with the salt, which each start of a node draws. The
 * nonce is the count, so no nonce comes twice under a key. What comes before the ciphertext is
 * authenticated, with the directory, the term and the index of the entry: entries cannot be
 * exchanged, nor taken from another directory. An entry that is not sealed never begins with this
 * byte, which is far above the versions of entries.
 */
public final class EntrySeal {
  static final String PURPOSE = "tollgate entry 1";

  private static final byte MAGIC = (byte) 0xE5;
  private static final int VERSION = 1;
  private static final int FIXED_BYTES = 3 + Integer.BYTES + DataKeys.SALT_BYTES + Long.BYTES;

  /** By how much an entry becomes longer, at most. */
  public static final int MOST_ADDED_BYTES = FIXED_BYTES + DataKey.MOST_ID_CHARS + Chunks.TAG_BYTES;

  private EntrySeal() {}

  /** True if these are the first bytes of a sealed entry. Leaves the position where it is. */
  public static boolean isSealed(ByteBuffer entry) {
    return entry.hasRemaining() && entry.get(entry.position()) == MAGIC;
  }

  /** A sealed entry, and the name of the key. */
  @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
  public record Sealed(String keyId, byte[] bytes) {}

  /**
   * Encrypts an entry.
   *
   * @throws IllegalStateException if there are no keys
   */
  static Sealed seal(DataKeys keys, String directory, long term, long index, byte[] plain) {
    DataKeys.EntryKey key = keys.sealing();
    byte[] id = key.of().id().getBytes(StandardCharsets.US_ASCII);
    long count = key.next();
    byte[] head =
        ByteBuffer.allocate(FIXED_BYTES + id.length)
            .put(MAGIC)
            .put((byte) VERSION)
            .put((byte) id.length)
            .put(id)
            .putInt(key.of().fingerprint())
            .put(key.salt())
            .putLong(count)
            .array();
    byte[] text =
        Chunks.crypt(
            Cipher.ENCRYPT_MODE,
            key.key(),
            nonce(count),
            bound(head, directory, term, index),
            plain,
            0,
            plain.length);
    if (text == null) {
      throw new IllegalStateException("encryption does not check a tag");
    }
    byte[] sealed = Arrays.copyOf(head, head.length + text.length);
    System.arraycopy(text, 0, sealed, head.length, text.length);
    return new Sealed(key.of().id(), sealed);
  }

  /**
   * Decrypts an entry.
   *
   * @throws KeyMissingException if this process lacks the key
   * @throws AlteredException if this is not what was sealed as that entry
   */
  static byte[] open(DataKeys keys, String directory, long term, long index, byte[] sealed)
      throws IOException {
    Head head = Head.read(index, ByteBuffer.wrap(sealed));
    DataKey key = keys.require(named(index), head.keyId(), head.fingerprint());
    byte @Nullable [] plain =
        Chunks.crypt(
            Cipher.DECRYPT_MODE,
            keys.derived(key, head.salt(), PURPOSE),
            nonce(head.count()),
            bound(Arrays.copyOf(sealed, head.length()), directory, term, index),
            sealed,
            head.length(),
            sealed.length - head.length());
    if (plain == null) {
      throw new AlteredException(named(index), head.keyId());
    }
    return plain;
  }

  /**
   * Returns the name of the key of a sealed entry, without decrypting it.
   *
   * @throws KeyMissingException if this process lacks the key
   * @throws AlteredException if nothing was sealed like this
   */
  static String requireKey(DataKeys keys, long index, ByteBuffer sealed) throws IOException {
    Head head = Head.read(index, sealed.duplicate());
    return keys.require(named(index), head.keyId(), head.fingerprint()).id();
  }

  /**
   * Returns the name of the key of a sealed entry, which nobody needs to have.
   *
   * @throws AlteredException if nothing was sealed like this
   */
  public static String keyOf(long index, ByteBuffer sealed) throws AlteredException {
    return Head.read(index, sealed.duplicate()).keyId();
  }

  private static String named(long index) {
    return "entry " + index + " of the log";
  }

  private static byte[] nonce(long count) {
    return ByteBuffer.allocate(Chunks.NONCE_BYTES).putLong(Integer.BYTES, count).array();
  }

  private static byte[] bound(byte[] head, String directory, long term, long index) {
    byte[] owner = directory.getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(head.length + owner.length + 2 * Long.BYTES)
        .put(head)
        .put(owner)
        .putLong(term)
        .putLong(index)
        .array();
  }

  @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
  private record Head(String keyId, int fingerprint, byte[] salt, long count, int length) {
    static Head read(long index, ByteBuffer in) throws AlteredException {
      int begin = in.position();
      if (in.remaining() < 3 || in.get() != MAGIC) {
        throw new AlteredException(named(index) + " is damaged, or not encrypted");
      }
      int version = in.get();
      if (version != VERSION) {
        throw new AlteredException(
            named(index)
                + " is encrypted in version "
                + version
                + ", which this version of Tollgate does not know");
      }
      byte[] id = new byte[Byte.toUnsignedInt(in.get())];
      if (in.remaining() < id.length + FIXED_BYTES - 3) {
        throw new AlteredException(named(index) + " is damaged, or not encrypted");
      }
      in.get(id);
      int fingerprint = in.getInt();
      byte[] salt = new byte[DataKeys.SALT_BYTES];
      in.get(salt);
      long count = in.getLong();
      return new Head(
          new String(id, StandardCharsets.ISO_8859_1),
          fingerprint,
          salt,
          count,
          in.position() - begin);
    }
  }
}
