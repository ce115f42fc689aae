package dev.tollgate.h2;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/** Calls of the Java runtime that compute with numbers of any length, counted by their digits. */
public final class ChargedNumbers {
  /** Digits of a long, with which the runtime computes at once. */
  private static final int SHORT = 19;

  /** Digits in one word of a long number. */
  private static final int WORD = 9;

  /** Products of two words that the runtime computes in the time of one step. */
  private static final int WORDS_PER_STEP = 4;

  /** The same for a power of ten, which the runtime finds by squares. */
  private static final int POWER_WORDS_PER_STEP = 64;

  /** Multiplications of two numbers in the time of their greatest common divisor. */
  private static final int GCD_TIMES = 4;

  private ChargedNumbers() {}

  private static long digits(BigDecimal number) {
    return number.precision();
  }

  private static long digits(BigInteger number) {
    return number.bitLength() / 3;
  }

  /** Counts the zeros that are added to a number of one scale to have the other. */
  private static long apart(long scale, long other) {
    long zeros = Math.abs(scale - other);
    if (zeros > 2 * SHORT) {
      long words = zeros / WORD;
      Meter.steps(words + words * words / POWER_WORDS_PER_STEP);
    }
    return zeros;
  }

  private static void linear(long digits) {
    if (digits > 2 * SHORT) {
      Meter.steps(digits / WORD / WORDS_PER_STEP);
    }
  }

  /** What takes as long as a multiplication, with all that is as quadratic. */
  static void product(long digits, long others) {
    if (digits + others > 2 * SHORT) {
      Meter.steps((digits / WORD + 1) * (others / WORD + 1) / WORDS_PER_STEP);
    }
  }

  /**
   * Returns the text of a number that is about to be read. One with an exponent is read here first,
   * which costs little: no zeros are written out yet.
   */
  @Passes(to = "java.math.BigDecimal")
  @Passes(to = "java.math.BigInteger")
  public static String text(String text) {
    Limited.requireNumber(text);
    product(text.length(), text.length());
    if (text.length() > Limited.NUMBER_LENGTH || text.indexOf('e') >= 0 || text.indexOf('E') >= 0) {
      Limited.requireNumber(new BigDecimal(text));
    }
    return text;
  }

  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal add(BigDecimal number, BigDecimal other) {
    linear(digits(number) + digits(other) + apart(number.scale(), other.scale()));
    return number.add(other);
  }

  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal subtract(BigDecimal number, BigDecimal other) {
    linear(digits(number) + digits(other) + apart(number.scale(), other.scale()));
    return number.subtract(other);
  }

  @Replaces(of = "java.math.BigDecimal")
  public static int compareTo(BigDecimal number, BigDecimal other) {
    product(digits(number), apart(number.scale(), other.scale()));
    return number.compareTo(other);
  }

  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal multiply(BigDecimal number, BigDecimal other) {
    product(digits(number), digits(other));
    return number.multiply(other);
  }

  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal divide(BigDecimal number, BigDecimal other) {
    product(digits(number) + apart(number.scale(), other.scale()), digits(other));
    return number.divide(other);
  }

  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal divide(
      BigDecimal number, BigDecimal other, int scale, RoundingMode mode) {
    product(digits(number) + apart(scale, number.scale() - (long) other.scale()), digits(other));
    return number.divide(other, scale, mode);
  }

  /** The runtime strips the quotient of its zeros one by one; here is no quotient. */
  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal remainder(BigDecimal number, BigDecimal other) {
    long zeros = apart(number.scale(), other.scale());
    product(digits(number) + zeros, digits(other) + zeros);
    int scale = Math.max(number.scale(), other.scale());
    BigInteger dividend = number.setScale(scale).unscaledValue();
    BigInteger divisor = other.setScale(scale).unscaledValue();
    return new BigDecimal(dividend.remainder(divisor), scale);
  }

  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal setScale(BigDecimal number, int scale) {
    product(digits(number), apart(scale, number.scale()));
    return number.setScale(scale);
  }

  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal setScale(BigDecimal number, int scale, RoundingMode mode) {
    product(digits(number), apart(scale, number.scale()));
    return number.setScale(scale, mode);
  }

  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal round(BigDecimal number, MathContext context) {
    product(digits(number), digits(number));
    return number.round(context);
  }

  /** The runtime divides by ten for each zero; here half as many are left after each division. */
  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal stripTrailingZeros(BigDecimal number) {
    Limited.requireIntermediate(number);
    BigInteger rest = number.unscaledValue();
    if (rest.bitLength() < Long.SIZE) {
      return number.stripTrailingZeros();
    }
    product(digits(rest), digits(rest));
    long stripped = 0;
    for (int zeros = Integer.highestOneBit(Math.max(1, rest.getLowestSetBit()));
        zeros > 0;
        zeros /= 2) {
      if (rest.getLowestSetBit() >= zeros) {
        BigInteger[] parts = rest.divideAndRemainder(BigInteger.TEN.pow(zeros));
        if (parts[1].signum() == 0) {
          rest = parts[0];
          stripped += zeros;
        }
      }
    }
    return stripped == 0
        ? number
        : new BigDecimal(rest, Math.toIntExact(number.scale() - stripped));
  }

  /** Moves the point as far as the format of TO_CHAR says. */
  @Replaces(of = "java.math.BigDecimal")
  public static BigDecimal movePointRight(BigDecimal number, int places) {
    if (places > 2 * Limited.NUMBER_LENGTH) {
      throw Limited.tooLong();
    }
    product(digits(number) + places, digits(number) + places);
    return number.movePointRight(places);
  }

  @Replaces(of = "java.math.BigDecimal")
  public static BigInteger toBigInteger(BigDecimal number) {
    product(digits(number), apart(number.scale(), 0));
    return number.toBigInteger();
  }

  @Replaces(of = "java.math.BigDecimal")
  public static String toString(BigDecimal number) {
    product(digits(number), digits(number));
    return number.toString();
  }

  @Replaces(of = "java.math.BigDecimal")
  public static String toPlainString(BigDecimal number) {
    product(digits(number) + apart(number.scale(), 0), digits(number));
    return number.toPlainString();
  }

  @Replaces(of = "java.math.BigDecimal")
  public static double doubleValue(BigDecimal number) {
    product(digits(number) + apart(number.scale(), 0), digits(number));
    return number.doubleValue();
  }

  @Replaces(of = "java.math.BigDecimal")
  public static float floatValue(BigDecimal number) {
    product(digits(number) + apart(number.scale(), 0), digits(number));
    return number.floatValue();
  }

  @Replaces(of = "java.math.BigDecimal")
  public static long longValue(BigDecimal number) {
    product(digits(number) + apart(number.scale(), 0), digits(number));
    return number.longValue();
  }

  @Replaces(of = "java.math.BigDecimal")
  public static int intValue(BigDecimal number) {
    product(digits(number) + apart(number.scale(), 0), digits(number));
    return number.intValue();
  }

  @Replaces(of = "java.math.BigInteger")
  public static BigInteger multiply(BigInteger number, BigInteger other) {
    product(digits(number), digits(other));
    return number.multiply(other);
  }

  @Replaces(of = "java.math.BigInteger")
  public static BigInteger divide(BigInteger number, BigInteger other) {
    product(digits(number), digits(other));
    return number.divide(other);
  }

  @Replaces(of = "java.math.BigInteger")
  public static BigInteger gcd(BigInteger number, BigInteger other) {
    product(GCD_TIMES * digits(number), digits(other));
    return number.gcd(other);
  }

  @Replaces(of = "java.math.BigInteger")
  public static BigInteger[] divideAndRemainder(BigInteger number, BigInteger other) {
    product(digits(number), digits(other));
    return number.divideAndRemainder(other);
  }

  @Replaces(of = "java.math.BigInteger")
  public static BigInteger add(BigInteger number, BigInteger other) {
    linear(digits(number) + digits(other));
    return number.add(other);
  }

  @Replaces(of = "java.math.BigInteger")
  public static BigInteger subtract(BigInteger number, BigInteger other) {
    linear(digits(number) + digits(other));
    return number.subtract(other);
  }

  @Replaces(of = "java.math.BigInteger")
  public static String toString(BigInteger number) {
    product(digits(number), digits(number));
    return number.toString();
  }
}
