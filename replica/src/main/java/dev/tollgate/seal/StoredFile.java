package dev.tollgate.seal;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * A file that may be sealed, opened for reading in any order. Keeps one chunk of a sealed file in
 * memory. Not thread-safe.
 */
public final class StoredFile implements Closeable {
  private static final int FULL_BYTES = Chunks.CHUNK_BYTES + Chunks.TAG_BYTES;

  private final Path path;
  private final FileChannel file;
  private final FileSeal.@Nullable Head head;
  private final @Nullable SecretKey key;
  private final long size;
  private byte[] chunk = {};
  private long chunkNumber = -1;

  private StoredFile(
      Path path, FileChannel file, FileSeal.@Nullable Head head, @Nullable SecretKey key)
      throws IOException {
    this.path = path;
    this.file = file;
    this.head = head;
    this.key = key;
    this.size = head == null ? file.size() : Chunks.plainBytes(file.size() - head.bytes().length);
  }

  /**
   * @param place for which it was sealed
   * @throws KeyMissingException if this process lacks the key
   * @throws NotEncryptedException if there are keys, and the file is not sealed
   */
  static StoredFile open(Path path, DataKeys keys, String place) throws IOException {
    FileSeal.Head head = FileSeal.head(path);
    if (head == null) {
      FileSeal.requireOff(path, keys);
    }
    SecretKey key = head == null ? null : head.key(path, keys, place);
    FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
    try {
      return new StoredFile(path, file, head, key);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** Bytes of the file once it is opened. */
  public long size() {
    return size;
  }

  /**
   * Fills a buffer from a position on, until the buffer is full or the file ends.
   *
   * @throws AlteredException if what is there is not what was sealed
   */
  public void read(ByteBuffer to, long position) throws IOException {
    long from = position;
    while (to.hasRemaining() && from < size) {
      if (head == null) {
        int read = file.read(to, from);
        if (read < 0) {
          return;
        }
        from += read;
      } else {
        byte[] plain = chunkAt(from / Chunks.CHUNK_BYTES);
        int offset = (int) (from % Chunks.CHUNK_BYTES);
        int part = Math.min(to.remaining(), plain.length - offset);
        to.put(plain, offset, part);
        from += part;
      }
    }
  }

  private byte[] chunkAt(long number) throws IOException {
    if (number != chunkNumber) {
      FileSeal.Head sealed = requireNonNull(head, "head");
      long begin = sealed.bytes().length + number * FULL_BYTES;
      ByteBuffer text =
          ByteBuffer.allocate((int) Math.min(FULL_BYTES, Math.max(0, file.size() - begin)));
      for (int read = 0; read >= 0 && text.hasRemaining(); ) {
        read = file.read(text, begin + text.position());
      }
      boolean last = begin + FULL_BYTES >= file.size();
      byte[] plain =
          Chunks.chunk(
              Cipher.DECRYPT_MODE,
              requireNonNull(key, "key"),
              sealed.bytes(),
              Math.toIntExact(number),
              last,
              text.array(),
              text.position());
      if (plain == null) {
        throw new AlteredException(path + ", MiB " + (number + 1) + ",", sealed.keyId());
      }
      chunk = plain;
      chunkNumber = number;
    }
    return chunk;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
