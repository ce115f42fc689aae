package dev.tollgate.value;

import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import org.h2.value.Value;

/**
 * Counts the values in encoded parameter sets, and makes none of them. Each array and each row
 * counts as one value, and each of its elements as another. A value of one byte on the wire becomes
 * an object of up to 160 bytes, so a reader counts before it decodes.
 */
public final class ValueCount {
  private final int most;
  private int count;

  private ValueCount(int most) {
    this.most = most;
  }

  /**
   * Returns the number of values in a set; stops soon after {@code most}. Of a malformed set,
   * counts the values before the fault: whoever decodes the set finds the fault.
   */
  public static int of(byte[] set, int most) {
    ValueCount values = new ValueCount(most);
    WireReader in = new WireReader(set);
    try {
      values.pass(in, in.u16());
    } catch (WireFormatException malformed) {
      return values.count;
    }
    return values.count;
  }

  /** Passes values in a loop: elements of a collection are values that follow it. */
  private void pass(WireReader in, int values) {
    long left = values;
    while (left > 0 && count <= most) {
      left--;
      count++;
      int type = TypeTags.typeOf(in.u8());
      if (type == Value.ARRAY || type == Value.ROW) {
        left += in.count(1);
      } else {
        skip(in, type);
      }
    }
  }

  private static void skip(WireReader in, int type) {
    switch (type) {
      case Value.NULL -> {}
      case Value.BOOLEAN, Value.TINYINT -> in.skip(1);
      case Value.SMALLINT -> in.skip(2);
      case Value.INTEGER, Value.REAL -> in.skip(4);
      case Value.BIGINT, Value.DOUBLE, Value.DATE, Value.TIME -> in.skip(8);
      case Value.TIME_TZ -> in.skip(12);
      case Value.TIMESTAMP, Value.UUID -> in.skip(16);
      case Value.TIMESTAMP_TZ -> in.skip(20);
      case Value.NUMERIC -> {
        in.skip(4);
        in.skip(in.i32());
      }
      case Value.DECFLOAT -> {
        if (in.u8() == ValueCodec.FINITE) {
          in.skip(4);
          in.skip(in.i32());
        }
      }
      case Value.ENUM -> {
        in.skip(4);
        in.skip(in.i32());
      }
      case Value.CHAR,
          Value.VARCHAR,
          Value.VARCHAR_IGNORECASE,
          Value.CLOB,
          Value.BINARY,
          Value.VARBINARY,
          Value.BLOB,
          Value.JSON,
          Value.GEOMETRY ->
          in.skip(in.i32());
      case Value.UNKNOWN -> throw new WireFormatException("a value of unknown type");
      default -> in.skip(17); // an interval
    }
  }
}
