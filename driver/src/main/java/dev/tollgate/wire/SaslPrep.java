package dev.tollgate.wire;

import java.text.Normalizer;

/**
 * Prepares passwords so that one password typed on two machines is the same text (RFC 4013).
 *
 * <p>Two things differ from the RFC. The normalization is that of the Unicode version of the Java
 * runtime, not of Unicode 3.2. Code points that Unicode does not assign are accepted.
 */
final class SaslPrep {
  /** Code points that disappear (RFC 3454, table B.1), as pairs of first and last. */
  private static final int[] NOTHING = {
    0xad, 0xad, 0x34f, 0x34f, 0x1806, 0x1806, 0x180b, 0x180d, 0x200b, 0x200d, 0x2060, 0x2060,
    0xfe00, 0xfe0f, 0xfeff, 0xfeff
  };

  /** Prohibited code points (RFC 3454, tables C.2 to C.9) that Java's categories do not tell. */
  private static final int[] PROHIBITED = {
    0x340, 0x341, 0x6dd, 0x6dd, 0x70f, 0x70f, 0x180e, 0x180e, 0x200e, 0x200f, 0x2028, 0x202e,
    0x2061, 0x2063, 0x206a, 0x206f, 0x2ff0, 0x2ffb, 0xfdd0, 0xfdef, 0xfff9, 0xfffd, 0x1d173,
    0x1d17a, 0xe0001, 0xe0001, 0xe0020, 0xe007f
  };

  private static final int PLANE_MASK = 0xfffe;

  private SaslPrep() {}

  /**
   * Returns the prepared text.
   *
   * @throws IllegalArgumentException if nothing is left, or if the text has a prohibited character;
   *     the message does not quote the text
   */
  static String prepare(String text) {
    StringBuilder mapped = new StringBuilder(text.length());
    text.codePoints()
        .filter(c -> !isIn(NOTHING, c))
        .map(SaslPrep::space)
        .forEach(mapped::appendCodePoint);
    String prepared = Normalizer.normalize(mapped, Normalizer.Form.NFKC);
    if (prepared.isEmpty()) {
      throw new IllegalArgumentException("a password has at least one character");
    }
    if (prepared.codePoints().anyMatch(SaslPrep::isProhibited)) {
      throw new IllegalArgumentException(
          "a password has no control characters, no unpaired surrogates, and no characters for"
              + " private use");
    }
    requireOneDirection(prepared);
    return prepared;
  }

  private static int space(int codePoint) {
    return Character.getType(codePoint) == Character.SPACE_SEPARATOR ? ' ' : codePoint;
  }

  private static boolean isProhibited(int codePoint) {
    int type = Character.getType(codePoint);
    return type == Character.CONTROL
        || type == Character.PRIVATE_USE
        || type == Character.SURROGATE
        || (codePoint & PLANE_MASK) == PLANE_MASK
        || isIn(PROHIBITED, codePoint);
  }

  /** Text from right to left begins and ends with it, and has no text from left to right. */
  private static void requireOneDirection(String text) {
    int[] codePoints = text.codePoints().toArray();
    boolean rightToLeft = false;
    boolean leftToRight = false;
    for (int codePoint : codePoints) {
      rightToLeft |= isRightToLeft(codePoint);
      leftToRight |=
          Character.getDirectionality(codePoint) == Character.DIRECTIONALITY_LEFT_TO_RIGHT;
    }
    boolean mixed =
        leftToRight
            || !isRightToLeft(codePoints[0])
            || !isRightToLeft(codePoints[codePoints.length - 1]);
    if (rightToLeft && mixed) {
      throw new IllegalArgumentException(
          "a password with characters of a script from right to left begins and ends with such a"
              + " character, and has none of a script from left to right");
    }
  }

  private static boolean isRightToLeft(int codePoint) {
    byte direction = Character.getDirectionality(codePoint);
    return direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT
        || direction == Character.DIRECTIONALITY_RIGHT_TO_LEFT_ARABIC;
  }

  private static boolean isIn(int[] ranges, int codePoint) {
    for (int i = 0; i < ranges.length; i += 2) {
      if (codePoint >= ranges[i] && codePoint <= ranges[i + 1]) {
        return true;
      }
    }
    return false;
  }
}
