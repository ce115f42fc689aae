package dev.tollgate.h2;

import java.math.BigDecimal;
import java.sql.SQLException;
import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.h2.util.geometry.EWKTUtils;

/**
 * Limits on single values where H2 makes them, on every way on which it does. They bound the stack
 * and the memory, which no count of steps bounds.
 */
public final class Limited {
  /** Digits of a number, and the most that a type declares of digits and of scale. */
  public static final int NUMBER_LENGTH = 1_000;

  /** The distance of a scale from zero: a small quotient has zeros before all of its digits. */
  private static final int NUMBER_SCALE = 2 * NUMBER_LENGTH;

  /** Bits of the longest number, and a few more. */
  private static final int BITS = NUMBER_LENGTH * 10 / 3;

  /** Signs, a point, an exponent and blanks of the text of a number. */
  private static final int AROUND_DIGITS = 32;

  /** Parentheses within each other in a text that becomes a GEOMETRY. */
  static final int GEOMETRY_NESTING = 64;

  /** SQLState and code of what is too much work. */
  private static final String TOO_MUCH = "54001";

  private static final int TOO_MUCH_CODE = 90_914;

  private Limited() {}

  static DbException tooMuch(String message) {
    return DbException.convert(new SQLException(message, TOO_MUCH, TOO_MUCH_CODE));
  }

  /**
   * Refuses a text of a number that no value may have, before its digits are read.
   *
   * @throws DbException with SQLState 22003
   */
  static void requireNumber(String text) {
    if (text.length() > NUMBER_LENGTH + NUMBER_SCALE + AROUND_DIGITS) {
      throw tooLong();
    }
  }

  /** The same for what a text has become: an exponent may have made it larger than the text. */
  static void requireNumber(BigDecimal number) {
    if (number.unscaledValue().bitLength() > BITS
        || number.precision() > NUMBER_LENGTH
        || Math.abs((long) number.scale()) > NUMBER_SCALE) {
      throw tooLong();
    }
  }

  /** What is computed of numbers has more digits than they until it is rounded or stripped. */
  static void requireIntermediate(BigDecimal number) {
    if (number.unscaledValue().bitLength() > 3 * BITS) {
      throw tooLong();
    }
  }

  static DbException tooLong() {
    return DbException.get(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE_1,
        "a number with more than "
            + NUMBER_LENGTH
            + " digits, or a scale further from zero than "
            + NUMBER_SCALE);
  }

  /** H2 asks for the digits of each number of which it makes a value. */
  @Replaces(of = "java.math.BigDecimal", in = "org.h2.value.ValueBigDecimalBase")
  public static int precision(BigDecimal number) {
    requireNumber(number);
    return number.precision();
  }

  @Replaces(of = "org.h2.util.geometry.EWKTUtils", isStatic = true)
  public static byte[] ewkt2ewkb(String text) {
    requireGeometry(text);
    return EWKTUtils.ewkt2ewkb(text);
  }

  /** H2 calls itself for each collection in another, and reads the text on for each. */
  private static void requireGeometry(String text) {
    int depth = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth > GEOMETRY_NESTING) {
        throw tooMuch(
            "the text of a GEOMETRY has parentheses nested deeper than "
                + GEOMETRY_NESTING
                + " levels: collect its parts in fewer levels, or send the geometry as EWKB");
      }
    }
  }
}
