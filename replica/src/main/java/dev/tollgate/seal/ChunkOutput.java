package dev.tollgate.seal;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.OutputStream;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;

/**
 * Seals what is written to it, in {@link Chunks}. The file is complete only after {@link #finish}.
 * Keeps one chunk in memory. Not thread-safe.
 */
public class ChunkOutput extends OutputStream {
  private final OutputStream out;
  private final SecretKey key;
  private final byte[] header;
  private final byte[] chunk = new byte[Chunks.CHUNK_BYTES];
  private int filled;
  private int number;

  /**
   * Writes the header.
   *
   * @param out stays open
   * @param key is used for nothing else
   */
  public ChunkOutput(OutputStream out, byte[] header, SecretKey key) throws IOException {
    this.out = requireNonNull(out, "out");
    this.header = header.clone();
    this.key = requireNonNull(key, "key");
    out.write(header);
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
      throw new IOException("the file is too large to be encrypted");
    }
    out.write(
        requireNonNull(
            Chunks.chunk(Cipher.ENCRYPT_MODE, key, header, number, last, chunk, filled)));
    number++;
    filled = 0;
  }
}
