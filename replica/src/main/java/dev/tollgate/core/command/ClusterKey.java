package dev.tollgate.core.command;

import java.util.Arrays;

/**
 * What the nodes of a cluster know and no other program does: bytes that are drawn at random
 * outside this package. Whoever has them passes for a node, so no text shows them.
 */
public final class ClusterKey {
  /** How long a key is. */
  public static final int BYTES = 32;

  private final byte[] bytes;

  /**
   * Creates a key of these bytes.
   *
   * @throws IllegalArgumentException if they are not {@link #BYTES}
   */
  public ClusterKey(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException("a key of " + bytes.length + " bytes");
    }
    this.bytes = bytes.clone();
  }

  public byte[] toBytes() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ClusterKey key && Arrays.equals(bytes, key.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return "ClusterKey[not shown]";
  }
}
