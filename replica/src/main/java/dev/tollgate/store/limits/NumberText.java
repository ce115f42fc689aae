package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.Nesting;
import java.math.BigDecimal;
import java.util.function.BooleanSupplier;
import org.h2.message.DbException;
import org.h2.value.Value;
import org.h2.value.ValueDecfloat;

/**
 * Texts from which H2 makes an exact number. The time in which H2 reads digits grows with the
 * square of their count. H2 writes out the zeros of an exponent as soon as the number gets a scale,
 * so {@code 1e500000000} takes hours and all memory. H2 cannot be interrupted meanwhile.
 */
public final class NumberText {
  /** Most digits of a number that costs nothing. */
  static final int FREE_LENGTH = 100;

  /**
   * Steps that take as long as writing one byte; reading digits takes the square of their count.
   */
  private static final int STEPS_PER_BYTE = 40;

  /** Cost of a digit of a computed number, in bytes: the next operation on it may be a division. */
  private static final int BYTES_PER_DIGIT = 10;

  private NumberText() {}

  /**
   * Returns the number of digits of a text that is a number, or the distance of its exponent from
   * zero if that is more. The result is at most {@link Limits#NUMBER_LENGTH} plus one, and 0 if the
   * text is no number.
   */
  public static int length(String text) {
    int end = text.length();
    while (end > 0 && text.charAt(end - 1) <= ' ') {
      end--;
    }
    int at = 0;
    while (at < end && text.charAt(at) <= ' ') {
      at++;
    }
    if (at < end && isSign(text.charAt(at))) {
      at++;
    }
    int digits = 0;
    boolean point = false;
    for (; at < end; at++) {
      char character = text.charAt(at);
      if (Character.isDigit(character)) {
        digits++;
      } else if (character == '.' && !point) {
        point = true;
      } else {
        break;
      }
    }
    if (digits == 0) {
      return 0;
    }
    int exponent = at < end ? exponent(text, at, end) : 0;
    return exponent < 0 ? 0 : Math.min(Math.max(digits, exponent), Limits.NUMBER_LENGTH + 1);
  }

  /** Returns the exponent without its sign; less than 0 if there is none. */
  private static int exponent(String text, int from, int end) {
    int at = from + 1;
    if (at < end && isSign(text.charAt(at))) {
      at++;
    }
    if ((text.charAt(from) != 'e' && text.charAt(from) != 'E') || at == end) {
      return -1;
    }
    int exponent = 0;
    for (; at < end; at++) {
      if (!Character.isDigit(text.charAt(at))) {
        return -1;
      }
      exponent = exponent * 10 + Character.digit(text.charAt(at), 10);
      exponent = Math.min(exponent, Limits.NUMBER_LENGTH + 1);
    }
    return exponent;
  }

  private static boolean isSign(char character) {
    return character == '-' || character == '+';
  }

  /**
   * Returns the cost of converting a value to exact numbers, or of going on with the numbers in it.
   * The cost is the number of bytes that take as long to write.
   *
   * @param converts whether texts become exact numbers; only asked for texts that cost
   * @throws DbException with SQLState 54001 for a text that takes too long, and for a number that
   *     no snapshot could hold
   */
  static long cost(Value value, BooleanSupplier converts) {
    long[] cost = {0};
    Nesting.forEach(value, part -> cost[0] += costOfOne(part, converts));
    return cost[0];
  }

  private static long costOfOne(Value value, BooleanSupplier converts) {
    if (GeometryText.isText(value.getValueType())) {
      long length = length(value.getString());
      if (length <= FREE_LENGTH || !converts.getAsBoolean()) {
        return 0;
      }
      if (length > Limits.NUMBER_LENGTH) {
        throw Exhausted.work(
            "the statement was ended and changed nothing, because a text in it becomes a number"
                + " with more than "
                + Limits.NUMBER_LENGTH
                + " digits, or with an exponent that is further from zero");
      }
      return length * length / STEPS_PER_BYTE;
    }
    return isExact(value.getValueType()) ? costOfNumber(value) : 0;
  }

  private static long costOfNumber(Value value) {
    if (value instanceof ValueDecfloat number && !number.isFinite()) {
      return 0;
    }
    BigDecimal number = value.getBigDecimal();
    long exponent = Math.abs((long) number.scale());
    if (exponent > Limits.DECFLOAT_EXPONENT) {
      throw Exhausted.work(
          "the statement was ended and changed nothing, because a DECFLOAT in it has an exponent"
              + " that is more than "
              + Limits.DECFLOAT_EXPONENT
              + " from zero");
    }
    // a digit has more than three bits
    long length = number.unscaledValue().bitLength() / 3 + exponent;
    return length > FREE_LENGTH ? length * BYTES_PER_DIGIT : 0;
  }

  /** Returns whether numbers of a type may have any number of digits. */
  static boolean isExact(int valueType) {
    return valueType == Value.NUMERIC || valueType == Value.DECFLOAT;
  }
}
