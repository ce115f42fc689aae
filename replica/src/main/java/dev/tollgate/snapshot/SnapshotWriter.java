package dev.tollgate.snapshot;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;

/**
 * Writes a snapshot: "TGSN", version u16, then records (kind u8, length i32, bytes). It ends with
 * kind 0 and the SHA-256 of all bytes before the SHA-256. Big-endian. Not thread-safe.
 */
public final class SnapshotWriter {
  static final byte[] MAGIC = {'T', 'G', 'S', 'N'};

  /** The version of the snapshots that this program writes. */
  public static final int VERSION = 1;

  static final int END = 0;

  private final OutputStream out;
  private final MessageDigest digest = Checksums.sha256();
  private final WireWriter head = new WireWriter(8);
  private long sizeBytes;

  /**
   * Writes the header.
   *
   * @param out should be buffered; stays open
   */
  public SnapshotWriter(OutputStream out) throws IOException {
    this.out = requireNonNull(out, "out");
    head.raw(MAGIC, 0, MAGIC.length).u16(VERSION);
    put(head);
  }

  /**
   * Appends a record.
   *
   * @param kind 1 to 255
   */
  public void record(int kind, WireWriter body) throws IOException {
    if (kind <= END || kind > 255) {
      throw new IllegalArgumentException("record kind " + kind);
    }
    head.clear();
    put(head.u8(kind).i32(body.size()));
    put(body);
  }

  /** Appends a record whose body is an array. */
  public void record(int kind, byte[] body) throws IOException {
    head.clear();
    put(head.u8(kind).i32(body.length));
    out.write(body);
    digest.update(body);
    sizeBytes += body.length;
  }

  /** Ends the snapshot; nothing may follow. */
  public void finish() throws IOException {
    head.clear();
    put(head.u8(END));
    byte[] checksum = digest.digest();
    out.write(checksum);
    sizeBytes += checksum.length;
  }

  /** Bytes written so far. */
  public long sizeBytes() {
    return sizeBytes;
  }

  private void put(WireWriter bytes) throws IOException {
    out.write(bytes.array(), 0, bytes.size());
    digest.update(bytes.array(), 0, bytes.size());
    sizeBytes += bytes.size();
  }
}
