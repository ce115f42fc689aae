package dev.tollgate.snapshot;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;

/**
 * Decrypts what {@link SealedOutput} has written. Returns no byte that is not authentic, and the
 * end only if it is the end of the whole file. Keeps two chunks in memory. Not thread-safe.
 */
final class SealedInput extends InputStream {
  private final InputStream in;
  private final SecretKey key;
  private final byte[] header;
  private final byte[] sealed = new byte[SealedFormat.CHUNK_BYTES + SealedFormat.TAG_BYTES + 1];

  /** Bytes of the next chunk that are in {@link #sealed}: one, which told that there is one. */
  private int ahead;

  private byte[] chunk = {};
  private int taken;
  private int number;
  private boolean ended;

  /**
   * Reads the header.
   *
   * @param in closed with this stream
   * @throws CorruptSnapshotException if the file is damaged
   */
  SealedInput(InputStream in, Passphrase passphrase) throws IOException {
    this.in = requireNonNull(in, "in");
    header = in.readNBytes(SealedFormat.HEADER_BYTES);
    if (header.length < SealedFormat.HEADER_BYTES) {
      throw new CorruptSnapshotException("the encrypted backup is cut off in its header");
    }
    SealedFormat.Header read = SealedFormat.Header.read(header);
    key = passphrase.key(read.salt(), read.iterations());
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
    int full = SealedFormat.CHUNK_BYTES + SealedFormat.TAG_BYTES;
    // one byte more than a chunk has tells whether another follows
    int length = ahead + in.readNBytes(sealed, ahead, full + 1 - ahead);
    boolean last = length <= full;
    byte[] opened =
        length < SealedFormat.TAG_BYTES
            ? null
            : SealedFormat.chunk(
                Cipher.DECRYPT_MODE, key, header, number, last, sealed, Math.min(length, full));
    if (opened == null) {
      throw new CorruptSnapshotException(
          number == 0
              ? "the passphrase is wrong, or the encrypted backup is damaged at its beginning"
              : "the encrypted backup is damaged or cut off in its mebibyte " + (number + 1));
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
