package dev.tollgate.seal;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.IntFunction;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;

/**
 * Opens what {@link ChunkOutput} has written. Returns no byte that is not authentic, and the end
 * only if it is the end of the whole file. Keeps two chunks in memory. Not thread-safe.
 */
public final class ChunkInput extends InputStream {
  private final InputStream in;
  private final SecretKey key;
  private final byte[] header;
  private final IntFunction<IOException> damaged;
  private final byte[] sealed = new byte[Chunks.CHUNK_BYTES + Chunks.TAG_BYTES + 1];

  /** Bytes of the next chunk that are in {@link #sealed}: one, which told that there is one. */
  private int ahead;

  private byte[] chunk = {};
  private int taken;
  private int number;
  private boolean ended;

  /**
   * Reads the first chunk.
   *
   * @param in is behind the header; closed with this stream
   * @param damaged makes the exception for a chunk that is not authentic
   */
  public ChunkInput(InputStream in, byte[] header, SecretKey key, IntFunction<IOException> damaged)
      throws IOException {
    this.in = requireNonNull(in, "in");
    this.header = header.clone();
    this.key = requireNonNull(key, "key");
    this.damaged = requireNonNull(damaged, "damaged");
    next();
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (taken == chunk.length && !ended) {
      next();
    }
    int part = Math.min(length, chunk.length - taken);
    if (part == 0) {
      return -1;
    }
    System.arraycopy(chunk, taken, target, offset, part);
    taken += part;
    return part;
  }

  private void next() throws IOException {
    int full = Chunks.CHUNK_BYTES + Chunks.TAG_BYTES;
    // one byte more than a chunk has tells whether another follows
    int length = ahead + in.readNBytes(sealed, ahead, full + 1 - ahead);
    boolean last = length <= full;
    byte[] opened =
        Chunks.chunk(
            Cipher.DECRYPT_MODE, key, header, number, last, sealed, Math.min(length, full));
    if (opened == null) {
      throw damaged.apply(number);
    }
    if (!last) {
      sealed[0] = sealed[full];
      ahead = 1;
    }
    chunk = opened;
    taken = 0;
    number++;
    ended = last;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
