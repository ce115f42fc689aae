package dev.tollgate.seal;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a sealed file: a header, then {@link Chunks}.
 *
 * <pre>
 * header  "TGES", version u8 = 1, length of the key id u8, key id, fingerprint of the key i32,
 *         salt 16 bytes
 * </pre>
 *
 * <p>The key of a file is derived from the data key with the salt of the file and with its place: a
 * file opens nowhere else.
 */
public final class FileSeal {
  private static final byte[] MAGIC = {'T', 'G', 'E', 'S'};
  private static final int VERSION = 1;
  private static final int BEFORE_ID = MAGIC.length + 2;
  private static final int MOST_HEADER_BYTES =
      BEFORE_ID + DataKey.MOST_ID_CHARS + Integer.BYTES + DataKeys.SALT_BYTES;
  private static final String PURPOSE = "tollgate file 1 ";
  private static final int BUFFER_BYTES = 1 << 20;

  private FileSeal() {}

  /**
   * Returns a stream that seals what is written to it, with a key of its own.
   *
   * @param out stays open
   * @param place what the file is, and where; ASCII
   */
  static ChunkOutput seal(OutputStream out, DataKeys keys, String place) throws IOException {
    DataKey key = keys.first();
    byte[] id = key.id().getBytes(StandardCharsets.US_ASCII);
    byte[] salt = DataKeys.newSalt();
    byte[] header =
        ByteBuffer.allocate(BEFORE_ID + id.length + Integer.BYTES + salt.length)
            .put(MAGIC)
            .put((byte) VERSION)
            .put((byte) id.length)
            .put(id)
            .putInt(key.fingerprint())
            .put(salt)
            .array();
    return new ChunkOutput(out, header, key.derive(salt, PURPOSE + place));
  }

  /** Returns the bytes of a sealed file with this content, or the content if there are no keys. */
  public static byte[] sealed(byte[] content, DataKeys keys, String place) throws IOException {
    if (!keys.isOn()) {
      return content;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ChunkOutput out = seal(bytes, keys, place);
    out.write(content);
    out.finish();
    return bytes.toByteArray();
  }

  /**
   * Opens a file for reading from its beginning.
   *
   * @param place for which it was sealed
   * @throws KeyMissingException if this process lacks the key
   * @throws NotEncryptedException if there are keys, and the file is not sealed
   * @throws AlteredException if the beginning is not what was sealed; reading throws it later on
   */
  public static InputStream open(Path file, DataKeys keys, String place) throws IOException {
    InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
    try {
      in.mark(MOST_HEADER_BYTES);
      Head head = Head.read(file, in.readNBytes(MOST_HEADER_BYTES));
      in.reset();
      if (head == null) {
        requireOff(file, keys);
        return in;
      }
      SecretKey key = head.key(file, keys, place);
      String keyId = head.keyId();
      in.skipNBytes(head.bytes().length);
      return new ChunkInput(
          in,
          head.bytes(),
          key,
          number -> new AlteredException(file + ", MiB " + (number + 1) + ",", keyId));
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  static void requireOff(Path file, DataKeys keys) throws NotEncryptedException {
    if (keys.isOn()) {
      throw new NotEncryptedException(file.toString());
    }
  }

  /** Returns the name of the key with which a file is sealed; empty if it is not sealed. */
  public static Optional<String> keyOf(Path file) throws IOException {
    Head head = head(file);
    return head == null ? Optional.empty() : Optional.of(head.keyId());
  }

  /** Returns how many bytes a file has once it is opened. */
  public static long plainBytes(Path file) throws IOException {
    Head head = head(file);
    long size = Files.size(file);
    return head == null ? size : Chunks.plainBytes(size - head.bytes().length);
  }

  static @Nullable Head head(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return Head.read(file, in.readNBytes(MOST_HEADER_BYTES));
    }
  }

  /** What the header of a sealed file says. */
  @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
  record Head(String keyId, int fingerprint, byte[] salt, byte[] bytes) {
    /**
     * @param begin the first bytes of the file
     * @return null if the file is not sealed
     */
    static @Nullable Head read(Path file, byte[] begin) throws IOException {
      if (begin.length < MAGIC.length || !Arrays.equals(begin, 0, 4, MAGIC, 0, 4)) {
        return null;
      }
      ByteBuffer in = ByteBuffer.wrap(begin, MAGIC.length, begin.length - MAGIC.length);
      if (in.remaining() < 2) {
        throw new AlteredException(file + " is cut off in its header");
      }
      int version = in.get();
      int length = Byte.toUnsignedInt(in.get());
      if (version != VERSION) {
        throw new AlteredException(
            file
                + " is encrypted in version "
                + version
                + ", which this version of Tollgate does not know");
      }
      if (length > DataKey.MOST_ID_CHARS
          || in.remaining() < length + Integer.BYTES + DataKeys.SALT_BYTES) {
        throw new AlteredException(file + " is cut off or damaged in its header");
      }
      byte[] id = new byte[length];
      in.get(id);
      int fingerprint = in.getInt();
      byte[] salt = new byte[DataKeys.SALT_BYTES];
      in.get(salt);
      return new Head(
          new String(id, StandardCharsets.ISO_8859_1),
          fingerprint,
          salt,
          Arrays.copyOf(begin, in.position()));
    }

    SecretKey key(Path file, DataKeys keys, String place) throws KeyMissingException {
      return keys.require(file.toString(), keyId, fingerprint).derive(salt, PURPOSE + place);
    }
  }
}
