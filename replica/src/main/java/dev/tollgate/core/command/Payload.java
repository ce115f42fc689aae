package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;

/**
 * Bytes that the core carries and never interprets. Compared by content. Not copied: neither the
 * wrapped array nor the one that {@link #bytes} returns may be written to afterwards.
 */
public final class Payload {
  private static final Payload EMPTY = new Payload(new byte[0]);

  private final byte[] bytes;

  private Payload(byte[] bytes) {
    this.bytes = bytes;
  }

  /** The empty payload. */
  public static Payload empty() {
    return EMPTY;
  }

  /** Wraps the array and takes it over. */
  public static Payload of(byte[] bytes) {
    return new Payload(requireNonNull(bytes, "bytes"));
  }

  /** Returns the bytes themselves, not a copy. */
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

  /** Returns the size only: SQL values must not reach a log file. */
  @Override
  public String toString() {
    return bytes.length + " bytes";
  }
}
