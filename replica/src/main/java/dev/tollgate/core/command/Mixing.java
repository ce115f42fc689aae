package dev.tollgate.core.command;

/**
 * Mixes what happened into a digest of 64 bits, in order. Two sequences that differ give the same
 * digest by chance alone, with one chance in 2^64. It protects against faults and not against an
 * attacker. The same in every JVM.
 */
public final class Mixing {
  private static final long FACTOR = 0x9E37_79B9_7F4A_7C15L;
  private static final long FIRST = 0xFF51_AFD7_ED55_8CCDL;
  private static final long SECOND = 0xC4CE_B9FE_1A85_EC53L;

  private Mixing() {}

  /** Returns the digest after one more number. */
  public static long mix(long digest, long value) {
    long mixed = (Long.rotateLeft(digest, 29) + FACTOR) ^ value;
    mixed = (mixed ^ (mixed >>> 33)) * FIRST;
    mixed = (mixed ^ (mixed >>> 29)) * SECOND;
    return mixed ^ (mixed >>> 32);
  }

  /** Returns the digest after one more text. */
  public static long mix(long digest, String text) {
    int length = text.length();
    long mixed = mix(digest, length);
    int at = 0;
    for (; at + 4 <= length; at += 4) {
      mixed =
          mix(
              mixed,
              ((long) text.charAt(at) << 48)
                  | ((long) text.charAt(at + 1) << 32)
                  | ((long) text.charAt(at + 2) << 16)
                  | text.charAt(at + 3));
    }
    long rest = 0;
    for (; at < length; at++) {
      rest = (rest << 16) | text.charAt(at);
    }
    return mix(mixed, rest);
  }

  /** Returns the digest after the first bytes of an array. */
  public static long mix(long digest, byte[] bytes, int length) {
    long mixed = mix(digest, length);
    int at = 0;
    for (; at + 8 <= length; at += 8) {
      mixed = mix(mixed, eight(bytes, at));
    }
    long rest = 0;
    for (; at < length; at++) {
      rest = (rest << 8) | (bytes[at] & 0xFF);
    }
    return mix(mixed, rest);
  }

  private static long eight(byte[] bytes, int at) {
    return (long) (bytes[at] & 0xFF) << 56
        | (long) (bytes[at + 1] & 0xFF) << 48
        | (long) (bytes[at + 2] & 0xFF) << 40
        | (long) (bytes[at + 3] & 0xFF) << 32
        | (long) (bytes[at + 4] & 0xFF) << 24
        | (long) (bytes[at + 5] & 0xFF) << 16
        | (long) (bytes[at + 6] & 0xFF) << 8
        | (bytes[at + 7] & 0xFF);
  }
}
