package dev.tollgate.h2;

import java.math.BigDecimal;
import java.sql.SQLException;
import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.h2.util.geometry.EWKBUtils;
import org.h2.util.geometry.GeoJsonUtils;
import org.h2.util.geometry.GeometryUtils;
import org.h2.value.ValueGeometry;

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

  /**
   * Collections within each other in a GEOMETRY. Clients and nodes read no deeper ones ({@code
   * dev.tollgate.value.ValueCodec}).
   */
  static final int GEOMETRY_NESTING = 32;

  /** Parentheses or brackets around the coordinates of what is in a collection, at most. */
  private static final int COORDINATE_NESTING = 2;

  /** An object of JSON and its list of geometries. */
  private static final int JSON_PER_LEVEL = 2;

  /** SQLState of a text or bytes that are no value of the type. */
  private static final String NO_VALUE = "22018";

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

  @Replaces(of = "org.h2.value.ValueGeometry", isStatic = true)
  public static ValueGeometry get(String text) {
    requireLevels(text);
    ValueGeometry value = ValueGeometry.get(text);
    requireLevels(value.getBytesNoCopy());
    return value;
  }

  @Replaces(of = "org.h2.value.ValueGeometry", isStatic = true)
  public static ValueGeometry getFromEWKB(byte[] bytes) {
    requireLevels(bytes);
    return ValueGeometry.getFromEWKB(bytes);
  }

  /** H2 calls itself for each collection in another, and reads the text on for each. */
  private static void requireLevels(String text) {
    int depth = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth > GEOMETRY_NESTING + COORDINATE_NESTING) {
        throw tooDeep();
      }
    }
  }

  private static void requireLevels(byte[] ewkb) {
    try {
      EWKBUtils.parseEWKB(ewkb, new Levels(GEOMETRY_NESTING));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      // no geometry: whoever makes the value says so
      return;
    }
  }

  private static DbException tooDeep() {
    return DbException.convert(
        new SQLException(
            "Data conversion error: a GEOMETRY nests at most "
                + GEOMETRY_NESTING
                + " collections within each other; collect its parts in fewer levels",
            NO_VALUE,
            ErrorCode.DATA_CONVERSION_ERROR_1));
  }

  /** What a reader passes on its way into collections. */
  private static final class Levels extends GeometryUtils.Target {
    private final int left;

    Levels(int left) {
      this.left = left;
    }

    @Override
    protected GeometryUtils.Target startCollectionItem(int index, int total) {
      if (left == 0) {
        throw tooDeep();
      }
      return new Levels(left - 1);
    }

    @Override
    protected void addCoordinate(double x, double y, double z, double m, int index, int total) {}
  }

  /**
   * As in {@link GeoJsonUtils#geoJsonToEwkb(byte[], int)}, which calls itself for each collection
   * within another.
   */
  @Replaces(of = "org.h2.util.geometry.GeoJsonUtils", isStatic = true)
  public static byte[] geoJsonToEwkb(byte[] json, int srid) {
    int depth = 0;
    boolean inText = false;
    for (int i = 0; i < json.length; i++) {
      byte c = json[i];
      if (c == '"') {
        inText = !inText;
      } else if (inText) {
        i += c == '\\' ? 1 : 0;
      } else {
        depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      }
      if (depth > JSON_PER_LEVEL * GEOMETRY_NESTING + JSON_PER_LEVEL + COORDINATE_NESTING) {
        throw tooDeep();
      }
    }
    byte[] ewkb = GeoJsonUtils.geoJsonToEwkb(json, srid);
    requireLevels(ewkb);
    return ewkb;
  }
}
