package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.Nesting;
import java.util.function.Consumer;
import org.h2.message.DbException;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Texts from which H2 makes a GEOMETRY. H2 counts the items of each GEOMETRYCOLLECTION by reading
 * on to the end of the collection. So the time for a text grows with its length times its nesting:
 * half a minute for 1 MiB of nothing but collections. H2 cannot be interrupted meanwhile.
 *
 * <p>From bytes (EWKB) and from JSON H2 makes a GEOMETRY in linear time.
 */
public final class GeometryText {
  private static final String COLLECTION = "GEOMETRYCOLLECTION";
  private static final String SRID = "SRID=";

  private GeometryText() {}

  /** True for the text of a collection whose parentheses are nested deeper than the limit. */
  public static boolean isTooDeep(String text) {
    int at = skipSpaces(text, 0);
    if (text.regionMatches(/* ignoreCase= */ true, at, SRID, 0, SRID.length())) {
      at = skipSpaces(text, text.indexOf(';', at) + 1);
    }
    if (!text.regionMatches(/* ignoreCase= */ true, at, COLLECTION, 0, COLLECTION.length())) {
      return false;
    }
    int depth = 0;
    for (; at < text.length() && depth <= Limits.GEOMETRY_NESTING; at++) {
      char character = text.charAt(at);
      if (character == '(') {
        depth++;
      } else if (character == ')') {
        depth = Math.max(0, depth - 1);
      }
    }
    return depth > Limits.GEOMETRY_NESTING;
  }

  /** Skips spaces; H2 takes every character up to the space character for a space. */
  private static int skipSpaces(String text, int from) {
    int at = from;
    while (at < text.length() && text.charAt(at) <= ' ') {
      at++;
    }
    return at;
  }

  /**
   * Rejects a text that is nested too deep, and an array or row with such a text in it.
   *
   * @throws DbException with SQLState 54001
   */
  static void require(Value value) {
    Nesting.forEach(value, GeometryText::requireOne);
  }

  /** Returns the check for the parameters of a statement, which does nothing without a GEOMETRY. */
  public static Consumer<Value> check(boolean geometry) {
    return geometry ? GeometryText::require : value -> {};
  }

  private static void requireOne(Value value) {
    if (isText(value.getValueType()) && isTooDeep(value.getString())) {
      throw Exhausted.work(
          "the statement was ended and changed nothing, because it works with GEOMETRY, and a text"
              + " in it is a GEOMETRYCOLLECTION with parentheses nested deeper than "
              + Limits.GEOMETRY_NESTING
              + " levels: collect the parts in fewer levels, or send the geometry as EWKB");
    }
  }

  /** True for GEOMETRY, and for an array or row with a GEOMETRY in it. */
  static boolean hasGeometry(@Nullable TypeInfo type) {
    return Nesting.has(type, part -> part == Value.GEOMETRY);
  }

  /** True for a character type, and for an array or row with one in it. */
  static boolean hasText(@Nullable TypeInfo type) {
    return Nesting.has(type, GeometryText::isText);
  }

  static boolean isText(int valueType) {
    return switch (valueType) {
      case Value.CHAR, Value.VARCHAR, Value.VARCHAR_IGNORECASE, Value.CLOB -> true;
      default -> false;
    };
  }
}
