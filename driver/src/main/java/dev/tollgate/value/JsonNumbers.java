package dev.tollgate.value;

import java.nio.charset.StandardCharsets;

/**
 * Limits numbers in JSON text. The time in which H2 reads a number grows with the square of its
 * digits: a million digits take 20 seconds. The read cannot be interrupted.
 */
public final class JsonNumbers {
  /** Most digits of one number; H2 reads this many about as fast as other characters. */
  public static final int MAX_DIGITS = 1_000;

  private JsonNumbers() {}

  /** True if no number has more digits than {@link #MAX_DIGITS}; digits in strings do not count. */
  public static boolean areShort(String json) {
    return areShort(json.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Checks JSON in any of its encodings, as {@link #areShort(String)} does.
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
