package dev.tollgate.sql;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The range of sizes that the values of a statement have, for each position of a value and each
 * measure of it. A size is a power of four, so that ordinary values differ little. Not thread-safe
 * while it changes.
 */
public final class SizeRanges {
  /** What is measured of the values at one position. */
  public enum Measure {
    /** How many values a list has. */
    COUNT(0),
    /** The number that a value is, or that a text reads as, with its sign. */
    AMOUNT(1),
    /** How many bytes a value takes. */
    LENGTH(2),
    /** How many bytes of a text belong to characters beyond ASCII, which H2 treats apart. */
    WIDE(3);

    private final int index;

    Measure(int index) {
      this.index = index;
    }
  }

  private static final int MEASURES = Measure.values().length;
  private static final int MOST = 120;
  private static final int NO_NUMERAL = Integer.MIN_VALUE;

  /** Bits of ten decimal digits. */
  private static final int BITS_OF_TEN_DIGITS = 33;

  private static final int EXACT_DIGITS = 18;
  private static final int MOST_EXPONENT = 1_000_000;

  private final byte[] lowest;
  private final byte[] highest;

  /** Ranges that are empty. */
  public SizeRanges(int positions) {
    lowest = new byte[positions * MEASURES];
    highest = new byte[positions * MEASURES];
    Arrays.fill(lowest, Byte.MAX_VALUE);
    Arrays.fill(highest, Byte.MIN_VALUE);
  }

  private SizeRanges(SizeRanges other) {
    lowest = other.lowest.clone();
    highest = other.highest.clone();
  }

  public SizeRanges copy() {
    return new SizeRanges(this);
  }

  public int positions() {
    return lowest.length / MEASURES;
  }

  /** The bytes that these ranges take, about. */
  public int bytes() {
    return 2 * lowest.length;
  }

  public boolean covers(int position, Measure measure, int size) {
    int index = position * MEASURES + measure.index;
    return lowest[index] <= size && size <= highest[index];
  }

  public void cover(int position, Measure measure, int size) {
    int index = position * MEASURES + measure.index;
    lowest[index] = (byte) Math.min(lowest[index], size);
    highest[index] = (byte) Math.max(highest[index], size);
  }

  /** Whether these ranges contain others of the same positions. */
  public boolean covers(SizeRanges other) {
    for (int i = 0; i < lowest.length; i++) {
      if (other.lowest[i] < lowest[i] || other.highest[i] > highest[i]) {
        return false;
      }
    }
    return true;
  }

  /** Extends these ranges to contain others of the same positions. */
  public void cover(SizeRanges other) {
    for (int i = 0; i < lowest.length; i++) {
      lowest[i] = (byte) Math.min(lowest[i], other.lowest[i]);
      highest[i] = (byte) Math.max(highest[i], other.highest[i]);
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SizeRanges ranges
        && Arrays.equals(lowest, ranges.lowest)
        && Arrays.equals(highest, ranges.highest);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(lowest) + Arrays.hashCode(highest);
  }

  /** The size of a number: the least power of four beyond it, negative if the number is. */
  public static int ofNumber(long number) {
    int bits = Long.SIZE - Long.numberOfLeadingZeros(number < 0 ? -number : number);
    return number < 0 ? -ofBits(bits) : ofBits(bits);
  }

  /** The size of a number whose absolute value has so many bits before the point. */
  public static int ofBits(long bits) {
    return (int) Math.min(MOST, Math.max(0, bits + 1) / 2);
  }

  /** The bits that a number has for so many decimal digits. */
  public static long bitsOfDigits(long digits) {
    return digits * BITS_OF_TEN_DIGITS / 10;
  }

  /** Whether a size is that of a numeral. */
  public static boolean isNumeral(int size) {
    return size != NO_NUMERAL;
  }

  /** Returns the size of the number that a text reads as; {@link #isNumeral} tells if it does. */
  public static int ofNumeral(byte[] text, int start, int end) {
    int from = start;
    int to = end;
    while (from < to && text[from] == ' ') {
      from++;
    }
    while (to > from && text[to - 1] == ' ') {
      to--;
    }
    boolean negative = from < to && text[from] == '-';
    if (from < to && (negative || text[from] == '+')) {
      from++;
    }
    return from == to ? NO_NUMERAL : ofUnsigned(text, from, to, negative);
  }

  private static int ofUnsigned(byte[] text, int from, int to, boolean negative) {
    long value = 0;
    int digits = 0;
    boolean whole = true;
    int seen = 0;
    int i = from;
    for (; i < to && text[i] != 'e' && text[i] != 'E'; i++) {
      int digit = text[i] - '0';
      if (text[i] == '.' && whole) {
        whole = false;
      } else if (digit < 0 || digit > 9) {
        return NO_NUMERAL;
      } else {
        seen++;
        if (whole && (digits > 0 || digit > 0)) {
          digits++;
          value = digits <= EXACT_DIGITS ? value * 10 + digit : value;
        }
      }
    }
    int exponent = i < to ? exponent(text, i + 1, to) : 0;
    if (seen == 0 || exponent == NO_NUMERAL) {
      return NO_NUMERAL;
    }
    long bits =
        digits <= EXACT_DIGITS
            ? Long.SIZE - Long.numberOfLeadingZeros(value)
            : bitsOfDigits(digits);
    int size = ofBits(bits + bitsOfDigits(exponent));
    return negative ? -size : size;
  }

  private static int exponent(byte[] text, int from, int to) {
    boolean signed = from < to && (text[from] == '-' || text[from] == '+');
    int exponent = 0;
    int first = signed ? from + 1 : from;
    for (int i = first; i < to; i++) {
      int digit = text[i] - '0';
      if (digit < 0 || digit > 9) {
        return NO_NUMERAL;
      }
      exponent = Math.min(MOST_EXPONENT, exponent * 10 + digit);
    }
    return first >= to ? NO_NUMERAL : signed && text[from] == '-' ? -exponent : exponent;
  }
}
