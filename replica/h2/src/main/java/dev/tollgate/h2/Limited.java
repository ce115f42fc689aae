package dev.tollgate.h2;

import java.math.BigDecimal;
import java.sql.SQLException;
import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.h2.util.geometry.EWKTUtils;
import org.h2.value.ValueDecfloat;

/**
 * Limits on single values where H2 makes them, on every way on which it does. They bound the stack
 * and the memory, which no count of steps bounds.
 */
public final class Limited {
  /** Digits of a number, and the distance of its exponent from zero. */
  static final int NUMBER_LENGTH = 100_000;

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
   * Refuses a text that is too long a number, or whose exponent is too far from zero: H2 writes out
   * the zeros once the number has a scale.
   *
   * @throws DbException with SQLState 22003
   */
  static void requireNumber(String text) {
    int exponent = Math.max(text.lastIndexOf('e'), text.lastIndexOf('E'));
    int digits = exponent < 0 ? text.length() : exponent;
    if (digits > NUMBER_LENGTH + 3 || (exponent >= 0 && isFar(text, exponent + 1))) {
      throw tooLong();
    }
  }

  /** A number has at most twice as many zeros as digits, as long as {@link #get} made it. */
  private static boolean isFar(String text, int from) {
    long exponent = 0;
    for (int i = from; i < text.length() && exponent <= 2 * NUMBER_LENGTH; i++) {
      int digit = Character.digit(text.charAt(i), 10);
      exponent = digit < 0 ? exponent : exponent * 10 + digit;
    }
    return exponent > 2 * NUMBER_LENGTH;
  }

  private static DbException tooLong() {
    return DbException.get(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE_1,
        "a number with more than "
            + NUMBER_LENGTH
            + " digits, or an exponent further from zero than that");
  }

  @Replaces(of = "org.h2.value.ValueDecfloat", isStatic = true)
  public static ValueDecfloat get(BigDecimal number) {
    if (Math.abs((long) number.scale()) > NUMBER_LENGTH) {
      throw tooLong();
    }
    ChargedNumbers.zeros(number);
    return ValueDecfloat.get(number);
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
