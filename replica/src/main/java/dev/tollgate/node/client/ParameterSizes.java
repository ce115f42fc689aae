package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.sql.SizeRanges;
import dev.tollgate.sql.SizeRanges.Measure;
import dev.tollgate.sql.StatementShape;
import java.nio.ByteBuffer;

/**
 * Measures the values of parameter sets that were decoded before, without decoding them again. One
 * instance serves all sets of a request. Not thread-safe.
 */
final class ParameterSizes {
  private final StatementShape shape;
  private final SizeRanges ranges;

  private ByteBuffer set = ByteBuffer.allocate(0);
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
    set = ByteBuffer.wrap(parameterSet);
    covered = true;
    int count = Short.toUnsignedInt(set.getShort());
    for (int i = 0; i < count && covered; i++) {
      position = shape.positionOfParameter(i);
      value();
    }
    if (covered && set.hasRemaining()) {
      throw new IllegalStateException(set.remaining() + " bytes are left over");
    }
    return covered;
  }

  /** Measures the next value by its type tag; docs/protocol.md lists the tags. */
  private void value() {
    int tag = set.get();
    switch (tag) {
      case 0 -> {} // NULL
      case 1, 2 -> amount(set.get()); // BOOLEAN, TINYINT
      case 3 -> amount(set.getShort());
      case 4 -> amount(set.getInt());
      case 5, 17, 18 -> amount(set.getLong()); // BIGINT, DATE, TIME
      case 6 -> floating(set.getFloat());
      case 7 -> floating(set.getDouble());
      case 8 -> decimal();
      case 9 -> decfloat();
      case 10, 11, 12, 13 -> text(); // CHAR to CLOB
      case 14, 15, 16, 37, 38 -> skip(length()); // BINARY to BLOB, JSON, GEOMETRY
      case 19 -> skipAfterAmount(Integer.BYTES); // TIME WITH TIME ZONE
      case 20, 35 -> skipAfterAmount(Long.BYTES); // TIMESTAMP, UUID
      case 21 -> skipAfterAmount(Long.BYTES + Integer.BYTES); // TIMESTAMP WITH TIME ZONE
      case 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34 -> { // intervals
        skip(1);
        skipAfterAmount(Long.BYTES);
      }
      case 36 -> { // ENUM
        skip(Integer.BYTES);
        text();
      }
      case 39, 40 -> list(); // ARRAY, ROW
      default -> throw new IllegalStateException("type tag " + tag);
    }
  }

  private void list() {
    int start = set.position();
    int count = set.getInt();
    for (int i = 0; i < count; i++) {
      value();
    }
    is(Measure.LENGTH, SizeRanges.ofNumber(set.position() - start));
  }

  private void skip(int bytes) {
    set.position(set.position() + bytes);
  }

  private void skipAfterAmount(int bytes) {
    amount(set.getLong());
    skip(bytes);
  }

  private void floating(double number) {
    int size = SizeRanges.ofBits(Math.getExponent(number) + 1L);
    is(Measure.AMOUNT, number < 0 ? -size : size);
  }

  private void decfloat() {
    boolean finite = set.get() == 0;
    if (finite) {
      decimal();
    }
  }

  private void decimal() {
    int scale = set.getInt();
    int length = length();
    byte head = set.get(set.position());
    int first = head < 0 ? ~head : head;
    long bits = 8L * (length - 1) + Integer.SIZE - Integer.numberOfLeadingZeros(first);
    int size = SizeRanges.ofBits(bits - SizeRanges.bitsOfDigits(scale));
    is(Measure.AMOUNT, head < 0 ? -size : size);
    skip(length);
  }

  private void text() {
    int length = length();
    byte[] bytes = set.array();
    int start = set.position();
    int amount = SizeRanges.ofNumeral(bytes, start, start + length);
    if (SizeRanges.isNumeral(amount)) {
      is(Measure.AMOUNT, amount);
    }
    int wide = 0;
    for (int i = start; i < start + length; i++) {
      wide += (bytes[i] & 0xff) >>> 7; // a byte of a character beyond ASCII
    }
    if (wide > 0) {
      is(Measure.WIDE, SizeRanges.ofNumber(wide));
    }
    skip(length);
  }

  /** Reads the number of bytes that a value takes, and measures it. */
  private int length() {
    int length = set.getInt();
    is(Measure.LENGTH, SizeRanges.ofNumber(length));
    return length;
  }

  private void amount(long number) {
    is(Measure.AMOUNT, SizeRanges.ofNumber(number));
  }

  private void is(Measure measure, int size) {
    if (extending) {
      ranges.cover(position, measure, size);
    } else {
      covered &= ranges.covers(position, measure, size);
    }
  }
}
