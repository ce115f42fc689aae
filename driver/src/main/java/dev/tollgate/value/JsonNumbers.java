package dev.tollgate.value;

import java.nio.charset.StandardCharsets;

/**
 * Numbers in JSON text: H2 reads the digits of each in a time that grows with the square of their
 * count, a million in 20 seconds, and nobody can interrupt it.
 */
public final class JsonNumbers {
  /** Digits of one number; so many are read about as fast as as many other characters. */
  public static final int MAX_DIGITS = 1_000;

  private JsonNumbers() {}

  /** True if no number has more digits than the limit; digits in strings do not count. */
  public static boolean areShort(String json) {
    return areShort(json.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * The same for JSON in any of its encodings.
   *
   * @param json not changed
   */
  public static boolean areShort(byte[] json) {
    boolean string = false;
    boolean escaped = false;
    int digits = 0;
    for (byte character : json) {
      if (character == 0) {
        // half of a character in UTF-16
        continue;
      }
      digits = !string && '0' <= character && character <= '9' ? digits + 1 : 0;
      if (digits > MAX_DIGITS) {
        return false;
      }
      if (string && !escaped && character == '\\') {
        escaped = true;
      } else {
        string ^= character == '"' && !escaped;
        escaped = false;
      }
    }
    return true;
  }
}
