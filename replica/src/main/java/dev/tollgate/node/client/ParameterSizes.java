package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.sql.SizeRanges;
import dev.tollgate.sql.SizeRanges.Measure;
import dev.tollgate.sql.StatementShape;

/**
 * Measures the values of parameter sets that were decoded before, without decoding them again. One
 * instance serves all sets of a request. Not thread-safe.
 */
final class ParameterSizes {
  /** How the bytes of a value follow its type tag. */
  private enum Layout {
    NOTHING,
    ONE_BYTE,
    TWO_BYTES,
    FOUR_BYTES,
    EIGHT_BYTES,
    FLOAT,
    DOUBLE,
    NUMERIC,
    DECFLOAT,
    TEXT,
    BYTES,
    TWELVE_BYTES,
    SIXTEEN_BYTES,
    TWENTY_BYTES,
    INTERVAL,
    ENUM,
    LIST
  }

  /** In the order of the type tags; docs/protocol.md lists them. */
  private static final Layout[] LAYOUTS = {
    Layout.NOTHING, // NULL
    Layout.ONE_BYTE, // BOOLEAN
    Layout.ONE_BYTE,
    Layout.TWO_BYTES,
    Layout.FOUR_BYTES,
    Layout.EIGHT_BYTES,
    Layout.FLOAT,
    Layout.DOUBLE,
    Layout.NUMERIC,
    Layout.DECFLOAT,
    Layout.TEXT, // CHAR
    Layout.TEXT,
    Layout.TEXT,
    Layout.TEXT,
    Layout.BYTES, // BINARY
    Layout.BYTES,
    Layout.BYTES,
    Layout.EIGHT_BYTES, // DATE
    Layout.EIGHT_BYTES,
    Layout.TWELVE_BYTES,
    Layout.SIXTEEN_BYTES,
    Layout.TWENTY_BYTES,
    Layout.INTERVAL, // YEAR
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.INTERVAL,
    Layout.SIXTEEN_BYTES, // UUID
    Layout.ENUM,
    Layout.BYTES, // JSON
    Layout.BYTES,
    Layout.LIST, // ARRAY
    Layout.LIST
  };

  private final StatementShape shape;
  private final SizeRanges ranges;

  private byte[] set = new byte[0];
  private int at;
  private int position;
  private boolean extending;
  private boolean covered;

  /**
   * @param ranges for the positions of the shape
   */
  ParameterSizes(StatementShape shape, SizeRanges ranges) {
    this.shape = requireNonNull(shape, "shape");
    this.ranges = requireNonNull(ranges, "ranges");
  }

  /** Whether the ranges contain all sizes of a set. */
  boolean covers(byte[] parameterSet) {
    extending = false;
    return measure(parameterSet);
  }

  /** Extends the ranges to contain all sizes of a set. */
  void cover(byte[] parameterSet) {
    extending = true;
    measure(parameterSet);
  }

  private boolean measure(byte[] parameterSet) {
    set = parameterSet;
    at = 0;
    covered = true;
    int count = next(2);
    for (int i = 0; i < count; i++) {
      position = shape.positionOfParameter(i);
      value();
    }
    if (at != set.length) {
      throw new IllegalStateException("read " + at + " of " + set.length + " bytes");
    }
    return covered;
  }

  private void value() {
    switch (LAYOUTS[next(1)]) {
      case NOTHING -> {}
      case ONE_BYTE -> amount(SizeRanges.ofNumber((byte) next(1)));
      case TWO_BYTES -> amount(SizeRanges.ofNumber((short) next(2)));
      case FOUR_BYTES -> amount(SizeRanges.ofNumber(next(4)));
      case EIGHT_BYTES -> amount(SizeRanges.ofNumber(nextLong()));
      case FLOAT -> floating(Float.intBitsToFloat(next(4)));
      case DOUBLE -> floating(Double.longBitsToDouble(nextLong()));
      case NUMERIC -> decimal();
      case DECFLOAT -> {
        if (next(1) == 0) {
          decimal();
        }
      }
      case TEXT -> text();
      case BYTES -> {
        int length = next(4);
        is(Measure.LENGTH, SizeRanges.ofNumber(length));
        at += length;
      }
      case TWELVE_BYTES -> skipAfterAmount(4);
      case SIXTEEN_BYTES -> skipAfterAmount(8);
      case TWENTY_BYTES -> skipAfterAmount(12);
      case INTERVAL -> {
        at++;
        skipAfterAmount(8);
      }
      case ENUM -> {
        at += 4;
        text();
      }
      case LIST -> list();
    }
  }

  private void list() {
    int start = at;
    int count = next(4);
    for (int i = 0; i < count; i++) {
      value();
    }
    is(Measure.LENGTH, SizeRanges.ofNumber(at - start));
  }

  private void skipAfterAmount(int bytes) {
    amount(SizeRanges.ofNumber(nextLong()));
    at += bytes;
  }

  private void floating(double number) {
    int size = SizeRanges.ofBits(Math.getExponent(number) + 1L);
    amount(number < 0 ? -size : size);
  }

  private void decimal() {
    int scale = next(4);
    int length = next(4);
    boolean negative = set[at] < 0;
    int first = negative ? ~set[at] : set[at];
    long bits = 8L * (length - 1) + Integer.SIZE - Integer.numberOfLeadingZeros(first);
    int size = SizeRanges.ofBits(bits - SizeRanges.bitsOfDigits(scale));
    amount(negative ? -size : size);
    is(Measure.LENGTH, SizeRanges.ofNumber(length));
    at += length;
  }

  private void text() {
    int length = next(4);
    int amount = SizeRanges.ofNumeral(set, at, at + length);
    if (SizeRanges.isNumeral(amount)) {
      amount(amount);
    }
    is(Measure.LENGTH, SizeRanges.ofNumber(length));
    int wide = SizeRanges.wideBytes(set, at, at + length);
    if (wide > 0) {
      is(Measure.WIDE, SizeRanges.ofNumber(wide));
    }
    at += length;
  }

  private void amount(int size) {
    is(Measure.AMOUNT, size);
  }

  private void is(Measure measure, int size) {
    if (extending) {
      ranges.cover(position, measure, size);
    } else {
      covered &= ranges.covers(position, measure, size);
    }
  }

  private int next(int bytes) {
    int value = 0;
    for (int i = 0; i < bytes; i++) {
      value = value << Byte.SIZE | (set[at++] & 0xff);
    }
    return value;
  }

  private long nextLong() {
    return (long) next(4) << Integer.SIZE | (next(4) & 0xffff_ffffL);
  }
}
