package dev.tollgate.snapshot;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.WireReader;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads what {@link SnapshotWriter} wrote. Only the end shows whether the snapshot is complete:
 * check a file with {@link #check} before its content is used. Not thread-safe.
 */
public final class SnapshotReader {
  /** The most that one record may hold; the writers stay far below. */
  private static final int MAX_RECORD_BYTES = 256 << 20;

  private final DataInputStream in;
  private final MessageDigest digest = Checksums.sha256();

  /** One record. */
  public record Piece(int kind, WireReader body) {
    public Piece {
      requireNonNull(body, "body");
    }
  }

  /**
   * Reads the header.
   *
   * @param in should be buffered; stays open
   * @throws CorruptSnapshotException if this is no snapshot
   * @throws UnknownVersionException if its version is not known here
   */
  public SnapshotReader(InputStream in) throws IOException {
    this.in = new DataInputStream(requireNonNull(in, "in"));
    byte[] head = take(SnapshotWriter.MAGIC.length + 2);
    if (!Arrays.equals(head, 0, 4, SnapshotWriter.MAGIC, 0, 4)) {
      throw new CorruptSnapshotException("this is no snapshot of Tollgate");
    }
    int version = new WireReader(head, 4, 2).u16();
    if (version != SnapshotWriter.VERSION) {
      throw UnknownVersionException.ofSnapshot(version);
    }
  }

  /**
   * Returns the next record, or null after the last.
   *
   * @throws CorruptSnapshotException if the snapshot is cut off or its checksum is wrong
   */
  public @Nullable Piece next() throws IOException {
    int kind = new WireReader(take(1)).u8();
    if (kind == SnapshotWriter.END) {
      byte[] expected = digest.digest();
      if (!Arrays.equals(expected, read(expected.length))) {
        throw new CorruptSnapshotException("the checksum of the snapshot is wrong");
      }
      return null;
    }
    int length = new WireReader(take(4)).i32();
    if (length < 0 || length > MAX_RECORD_BYTES) {
      throw new CorruptSnapshotException("record of " + length + " bytes");
    }
    return new Piece(kind, new WireReader(take(length)));
  }

  /** Reads a snapshot to its end, to check that it is complete. */
  public static void check(InputStream in) throws IOException {
    SnapshotReader reader = new SnapshotReader(in);
    boolean more = true;
    while (more) {
      more = reader.next() != null;
    }
  }

  private byte[] take(int length) throws IOException {
    byte[] bytes = read(length);
    digest.update(bytes);
    return bytes;
  }

  private byte[] read(int length) throws IOException {
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new CorruptSnapshotException("the snapshot is cut off", new EOFException());
    }
    return bytes;
  }
}
