package dev.tollgate.h2.weave;

import dev.tollgate.h2.Limited;
import java.util.Set;

/**
 * The largest precision and scale of a number, which the compiler has written into each class of H2
 * that uses them. Declared, derived and default types have no more than {@link
 * Limited#NUMBER_LENGTH}.
 */
final class NumberLimits {
  /** What H2 has for both. */
  static final int OF_H2 = 100_000;

  /** Classes that use them; others have the same number for something else. */
  static final Set<String> USERS =
      Set.of(
          "org/h2/command/Parser",
          "org/h2/expression/BinaryOperation",
          "org/h2/expression/aggregate/Aggregate",
          "org/h2/expression/function/GCDFunction",
          "org/h2/expression/function/MathFunction",
          "org/h2/value/DataType",
          "org/h2/value/TypeInfo",
          "org/h2/value/Value",
          "org/h2/value/ValueBigDecimalBase",
          "org/h2/value/ValueNumeric");

  /** Characters of a sign and a point, and those of an exponent beside them. */
  private static final Set<Integer> ADDED = Set.of(2, 12);

  private NumberLimits() {}

  /** The constant of a class as it is rewritten. */
  static Object instead(String type, Object constant) {
    if (!USERS.contains(type)) {
      return constant;
    }
    if (constant instanceof Integer number) {
      return ofInteger(number);
    }
    if (constant.equals((long) OF_H2)) {
      return (long) Limited.NUMBER_LENGTH;
    }
    if (constant.equals((double) OF_H2)) {
      return (double) Limited.NUMBER_LENGTH;
    }
    return constant.equals("" + OF_H2) ? "" + Limited.NUMBER_LENGTH : constant;
  }

  private static int ofInteger(int number) {
    if (Math.abs(number) == OF_H2) {
      return Integer.signum(number) * Limited.NUMBER_LENGTH;
    }
    if (ADDED.contains(number - OF_H2)) {
      return number - OF_H2 + Limited.NUMBER_LENGTH;
    }
    return number == OF_H2 / 2 ? Limited.NUMBER_LENGTH / 2 : number;
  }
}
