package dev.tollgate.wire;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Encodes strings as bytes, without loss. The encoding is UTF-8, but an unpaired surrogate is the
 * three bytes that UTF-8 would have for its number (WTF-8, <a
 * href="https://simonsapin.github.io/wtf-8/">S. Sapin</a>). H2 keeps such strings; {@code
 * SUBSTRING('😀', 1, 1)} makes one. Java's encoder would write a question mark in place of the
 * surrogate: two different strings would have equal bytes.
 *
 * <p>Each string has exactly one encoding. Bytes that are not the encoding of a string are
 * rejected.
 */
final class StrictUtf8 {
  private static final int BYTES_OF_A_SURROGATE = 3;

  private StrictUtf8() {}

  static byte[] encode(String text) {
    int unpaired = firstUnpaired(text, 0);
    return unpaired == text.length()
        ? text.getBytes(StandardCharsets.UTF_8)
        : encodeUnpaired(text, unpaired);
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @throws WireFormatException if the bytes are not the encoding of a string
   */
  static String decode(byte[] bytes, int offset, int length) {
    try {
      return decodeWellFormed(bytes, offset, length);
    } catch (CharacterCodingException e) {
      return decodeUnpaired(bytes, offset, length);
    }
  }

  /** The index of the first unpaired surrogate at or after {@code from}, or the length. */
  private static int firstUnpaired(String text, int from) {
    int length = text.length();
    for (int i = from; i < length; i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        boolean paired =
            Character.isHighSurrogate(c)
                && i + 1 < length
                && Character.isLowSurrogate(text.charAt(i + 1));
        if (!paired) {
          return i;
        }
        i++;
      }
    }
    return length;
  }

  private static byte[] encodeUnpaired(String text, int firstUnpaired) {
    WireWriter out = new WireWriter(text.length() + BYTES_OF_A_SURROGATE);
    int done = 0;
    for (int at = firstUnpaired; at < text.length(); at = firstUnpaired(text, done)) {
      put(out, text.substring(done, at));
      char surrogate = text.charAt(at);
      out.u8(0xe0 | surrogate >> 12)
          .u8(0x80 | (surrogate >> 6 & 0x3f))
          .u8(0x80 | (surrogate & 0x3f));
      done = at + 1;
    }
    put(out, text.substring(done));
    return out.toByteArray();
  }

  private static void put(WireWriter out, String wellFormed) {
    byte[] utf8 = wellFormed.getBytes(StandardCharsets.UTF_8);
    out.raw(utf8, 0, utf8.length);
  }

  private static String decodeWellFormed(byte[] bytes, int offset, int length)
      throws CharacterCodingException {
    return StandardCharsets.UTF_8
        .newDecoder()
        .decode(ByteBuffer.wrap(bytes, offset, length))
        .toString();
  }

  private static String decodeUnpaired(byte[] bytes, int offset, int length) {
    StringBuilder text = new StringBuilder(length);
    int end = offset + length;
    int done = offset;
    try {
      for (int at = nextSurrogate(bytes, done, end);
          at < end;
          at = nextSurrogate(bytes, done, end)) {
        text.append(decodeWellFormed(bytes, done, at - done));
        append(text, (char) (0xd000 | (bytes[at + 1] & 0x3f) << 6 | (bytes[at + 2] & 0x3f)));
        done = at + BYTES_OF_A_SURROGATE;
      }
      return text.append(decodeWellFormed(bytes, done, end - done)).toString();
    } catch (CharacterCodingException e) {
      throw new WireFormatException("string of " + length + " bytes is not UTF-8");
    }
  }

  /** Rejects a pair of two times three bytes: a pair has four bytes, and only one encoding. */
  private static void append(StringBuilder text, char surrogate) {
    int length = text.length();
    if (Character.isLowSurrogate(surrogate)
        && length > 0
        && Character.isHighSurrogate(text.charAt(length - 1))) {
      throw new WireFormatException("a pair of surrogates is not one character");
    }
    text.append(surrogate);
  }

  /** The index of the next three bytes that are a surrogate, or the end. */
  private static int nextSurrogate(byte[] bytes, int from, int end) {
    for (int at = from; at + BYTES_OF_A_SURROGATE <= end; at++) {
      if ((bytes[at] & 0xff) == 0xed
          && (bytes[at + 1] & 0xe0) == 0xa0
          && (bytes[at + 2] & 0xc0) == 0x80) {
        return at;
      }
    }
    return end;
  }
}
