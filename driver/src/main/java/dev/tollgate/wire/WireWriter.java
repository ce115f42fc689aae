package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A growing byte array with the protocol's primitives, big-endian. Not thread-safe.
 *
 * <p>A string is a 32-bit length in bytes, then UTF-8, see {@link StrictUtf8}. A byte string is a
 * 32-bit length, then the bytes. Null is the length -1, where the protocol allows it.
 */
public final class WireWriter {
  private byte[] bytes;
  private int size;

  public WireWriter() {
    this(256);
  }

  public WireWriter(int expectedBytes) {
    bytes = new byte[expectedBytes];
  }

  public int size() {
    return size;
  }

  /** A copy of what was written. */
  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  /** The underlying array, of which the first {@link #size} bytes are written. */
  public byte[] array() {
    return bytes;
  }

  /** Discards what was written and keeps the capacity. */
  public void clear() {
    size = 0;
  }

  /** Cuts off what was written beyond this size. */
  public void truncate(int newSize) {
    if (newSize < 0 || newSize > size) {
      throw new IllegalArgumentException("truncate " + size + " to " + newSize);
    }
    size = newSize;
  }

  public WireWriter u8(int value) {
    ensure(1);
    bytes[size++] = (byte) value;
    return this;
  }

  public WireWriter flag(boolean value) {
    return u8(value ? 1 : 0);
  }

  public WireWriter u16(int value) {
    ensure(2);
    bytes[size++] = (byte) (value >>> 8);
    bytes[size++] = (byte) value;
    return this;
  }

  public WireWriter i32(int value) {
    ensure(4);
    put32(size, value);
    size += 4;
    return this;
  }

  /** Overwrites four bytes that were written before, for lengths that are known later. */
  public void i32At(int position, int value) {
    if (position < 0 || position + 4 > size) {
      throw new IllegalArgumentException("position " + position + " of " + size);
    }
    put32(position, value);
  }

  public WireWriter i64(long value) {
    ensure(8);
    put32(size, (int) (value >>> 32));
    put32(size + 4, (int) value);
    size += 8;
    return this;
  }

  public WireWriter string(String value) {
    return bytes(StrictUtf8.encode(requireNonNull(value, "value")));
  }

  public WireWriter nullableString(@Nullable String value) {
    return value == null ? i32(-1) : string(value);
  }

  /** A list with its count. */
  public WireWriter i64s(List<Long> values) {
    i32(values.size());
    values.forEach(this::i64);
    return this;
  }

  public WireWriter bytes(byte[] value) {
    return i32(value.length).raw(value, 0, value.length);
  }

  /** Bytes without a length. */
  public WireWriter raw(byte[] value, int offset, int length) {
    ensure(length);
    System.arraycopy(value, offset, bytes, size, length);
    size += length;
    return this;
  }

  private void put32(int at, int value) {
    bytes[at] = (byte) (value >>> 24);
    bytes[at + 1] = (byte) (value >>> 16);
    bytes[at + 2] = (byte) (value >>> 8);
    bytes[at + 3] = (byte) value;
  }

  private void ensure(int more) {
    int needed = Math.addExact(size, more);
    if (needed > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(needed, (int) Math.min(bytes.length * 2L, MAX_ARRAY)));
    }
  }

  private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;
}
