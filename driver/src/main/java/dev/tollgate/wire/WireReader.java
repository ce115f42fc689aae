package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads what {@link WireWriter} wrote, without trusting the sender: checks every length against the
 * bytes that are there before it allocates anything. Not thread-safe.
 *
 * <p>All methods throw {@link WireFormatException} if the bytes end too early or make no sense.
 */
public final class WireReader {
  private final byte[] bytes;
  private final int end;
  private int at;

  public WireReader(byte[] bytes) {
    this(bytes, 0, bytes.length);
  }

  public WireReader(byte[] bytes, int offset, int length) {
    this.bytes = requireNonNull(bytes, "bytes");
    if (offset < 0 || length < 0 || offset > bytes.length - length) {
      throw new IllegalArgumentException(offset + " + " + length + " of " + bytes.length);
    }
    this.at = offset;
    this.end = offset + length;
  }

  /** Bytes not read yet. */
  public int remaining() {
    return end - at;
  }

  public int u8() {
    need(1);
    return bytes[at++] & 0xff;
  }

  public boolean flag() {
    int value = u8();
    if (value > 1) {
      throw new WireFormatException("flag " + value);
    }
    return value == 1;
  }

  public int u16() {
    need(2);
    return (bytes[at++] & 0xff) << 8 | (bytes[at++] & 0xff);
  }

  public int i32() {
    need(4);
    return (bytes[at++] & 0xff) << 24
        | (bytes[at++] & 0xff) << 16
        | (bytes[at++] & 0xff) << 8
        | (bytes[at++] & 0xff);
  }

  public long i64() {
    return (long) i32() << 32 | (i32() & 0xffff_ffffL);
  }

  /** Reads a count of items of {@code itemBytes} or more; rejects a count that cannot fit. */
  public int count(int itemBytes) {
    int count = i32();
    if (count < 0 || (long) count * itemBytes > remaining()) {
      throw new WireFormatException("count " + count + " with " + remaining() + " bytes left");
    }
    return count;
  }

  public String string() {
    String value = nullableString();
    if (value == null) {
      throw new WireFormatException("null string");
    }
    return value;
  }

  public @Nullable String nullableString() {
    int length = i32();
    if (length == -1) {
      return null;
    }
    need(length);
    String value = StrictUtf8.decode(bytes, at, length);
    at += length;
    return value;
  }

  /** A list with its count. */
  public List<Long> i64s() {
    int count = count(8);
    List<Long> values = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      values.add(i64());
    }
    return values;
  }

  public byte[] bytes() {
    int length = i32();
    need(length);
    byte[] value = Arrays.copyOfRange(bytes, at, at + length);
    at += length;
    return value;
  }

  /** Passes bytes without a copy. */
  public void skip(int length) {
    need(length);
    at += length;
  }

  /** All remaining bytes. */
  public byte[] rest() {
    byte[] value = Arrays.copyOfRange(bytes, at, end);
    at = end;
    return value;
  }

  /** Rejects bytes that are left over. */
  public void expectEnd() {
    if (at != end) {
      throw new WireFormatException(remaining() + " bytes left over");
    }
  }

  private void need(int length) {
    if (length < 0 || length > end - at) {
      throw new WireFormatException("need " + length + " bytes, have " + remaining());
    }
  }
}
