package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;

/**
 * Bytes that the core carries and never looks into. Compared by content; not copied, so nobody may
 * write to the array after it was wrapped or to the one that {@link #bytes} returns.
 */
public final class Payload {
  private static final Payload EMPTY = new Payload(new byte[0]);

  private final byte[] bytes;

  private Payload(byte[] bytes) {
    this.bytes = bytes;
  }

  /** No bytes. */
  public static Payload empty() {
    return EMPTY;
  }

  /** Takes over the array. */
  public static Payload of(byte[] bytes) {
    return new Payload(requireNonNull(bytes, "bytes"));
  }

  /** The bytes themselves, not a copy. */
  public byte[] bytes() {
    return bytes;
  }

  public int sizeBytes() {
    return bytes.length;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Payload that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** The size only: SQL values must not reach a log file. */
  @Override
  public String toString() {
    return bytes.length + " bytes";
  }
}
