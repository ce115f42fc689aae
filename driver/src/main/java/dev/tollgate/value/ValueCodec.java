package dev.tollgate.value;

import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.h2.api.IntervalQualifier;
import org.h2.engine.CastDataProvider;
import org.h2.message.DbException;
import org.h2.util.DateTimeUtils;
import org.h2.util.geometry.EWKBUtils;
import org.h2.util.geometry.GeometryUtils;
import org.h2.value.ExtTypeInfoEnum;
import org.h2.value.ExtTypeInfoRow;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueBigint;
import org.h2.value.ValueBinary;
import org.h2.value.ValueBlob;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueChar;
import org.h2.value.ValueClob;
import org.h2.value.ValueCollectionBase;
import org.h2.value.ValueDate;
import org.h2.value.ValueDecfloat;
import org.h2.value.ValueDouble;
import org.h2.value.ValueGeometry;
import org.h2.value.ValueInteger;
import org.h2.value.ValueInterval;
import org.h2.value.ValueJson;
import org.h2.value.ValueNull;
import org.h2.value.ValueNumeric;
import org.h2.value.ValueReal;
import org.h2.value.ValueRow;
import org.h2.value.ValueSmallint;
import org.h2.value.ValueTime;
import org.h2.value.ValueTimeTimeZone;
import org.h2.value.ValueTimestamp;
import org.h2.value.ValueTimestampTimeZone;
import org.h2.value.ValueTinyint;
import org.h2.value.ValueUuid;
import org.h2.value.ValueVarbinary;
import org.h2.value.ValueVarchar;
import org.h2.value.ValueVarcharIgnoreCase;
import org.jspecify.annotations.Nullable;

/**
 * Encodes SQL values as bytes: a type tag, then what the type needs. Large objects are sent whole.
 * Equal values have equal bytes.
 */
public final class ValueCodec {
  private static final int MAX_DEPTH = 32;

  /**
   * The most digits that H2 allows; with a larger scale, a small message would be a huge number.
   */
  private static final int MAX_SCALE = 100_000;

  private static final int MAX_OFFSET_SECONDS = 18 * 60 * 60;
  static final int FINITE = 0;
  private static final int POSITIVE_INFINITY = 1;
  private static final int NEGATIVE_INFINITY = 2;
  private static final int NOT_A_NUMBER = 3;

  private ValueCodec() {}

  /**
   * Appends a value.
   *
   * @throws DbException if the value is a Java object, whose type is never sent
   */
  public static void write(WireWriter out, Value value) {
    int type = value.getValueType();
    int tag = TypeTags.tagOf(type);
    if (tag < 0) {
      throw DbException.getUnsupportedException(
          "a value of type " + value.getType().getTraceSQL() + ": convert it to VARBINARY");
    }
    out.u8(tag);
    switch (type) {
      case Value.NULL -> {}
      case Value.BOOLEAN -> out.flag(value.getBoolean());
      case Value.TINYINT -> out.u8(value.getByte());
      case Value.SMALLINT -> out.u16(value.getShort());
      case Value.INTEGER -> out.i32(value.getInt());
      case Value.BIGINT -> out.i64(value.getLong());
      case Value.REAL -> out.i32(Float.floatToIntBits(value.getFloat()));
      case Value.DOUBLE -> out.i64(Double.doubleToLongBits(value.getDouble()));
      case Value.NUMERIC -> writeDecimal(out, value.getBigDecimal());
      case Value.DECFLOAT -> writeDecfloat(out, (ValueDecfloat) value);
      case Value.CHAR, Value.VARCHAR, Value.VARCHAR_IGNORECASE, Value.CLOB ->
          out.string(value.getString());
      case Value.BINARY, Value.VARBINARY, Value.BLOB, Value.JSON, Value.GEOMETRY ->
          out.bytes(value.getBytesNoCopy());
      case Value.UUID -> out.i64(((ValueUuid) value).getHigh()).i64(((ValueUuid) value).getLow());
      case Value.ENUM -> out.i32(value.getInt()).string(value.getString());
      case Value.ARRAY, Value.ROW -> {
        Value[] elements = ((ValueCollectionBase) value).getList();
        out.i32(elements.length);
        for (Value element : elements) {
          write(out, element);
        }
      }
      default -> writeTemporal(out, type, value);
    }
  }

  private static void writeTemporal(WireWriter out, int type, Value value) {
    switch (type) {
      case Value.DATE -> out.i64(((ValueDate) value).getDateValue());
      case Value.TIME -> out.i64(((ValueTime) value).getNanos());
      case Value.TIME_TZ -> {
        ValueTimeTimeZone time = (ValueTimeTimeZone) value;
        out.i64(time.getNanos()).i32(time.getTimeZoneOffsetSeconds());
      }
      case Value.TIMESTAMP -> {
        ValueTimestamp timestamp = (ValueTimestamp) value;
        out.i64(timestamp.getDateValue()).i64(timestamp.getTimeNanos());
      }
      case Value.TIMESTAMP_TZ -> {
        ValueTimestampTimeZone timestamp = (ValueTimestampTimeZone) value;
        out.i64(timestamp.getDateValue()).i64(timestamp.getTimeNanos());
        out.i32(timestamp.getTimeZoneOffsetSeconds());
      }
      default -> {
        ValueInterval interval = (ValueInterval) value;
        out.flag(interval.isNegative());
        out.i64(interval.getLeading()).i64(interval.getRemaining());
      }
    }
  }

  private static void writeDecimal(WireWriter out, BigDecimal number) {
    out.i32(number.scale()).bytes(number.unscaledValue().toByteArray());
  }

  private static void writeDecfloat(WireWriter out, ValueDecfloat value) {
    if (value.isFinite()) {
      writeDecimal(out.u8(FINITE), value.getBigDecimal());
    } else if (value.equals(ValueDecfloat.POSITIVE_INFINITY)) {
      out.u8(POSITIVE_INFINITY);
    } else {
      out.u8(value.equals(ValueDecfloat.NEGATIVE_INFINITY) ? NEGATIVE_INFINITY : NOT_A_NUMBER);
    }
  }

  /**
   * Reads a value.
   *
   * @param expected the type of the column or parameter if it is known: gives enumerations their
   *     labels and empty arrays their element type
   * @throws WireFormatException if the bytes are not a value
   */
  public static Value read(
      WireReader in, @Nullable TypeInfo expected, @Nullable CastDataProvider provider) {
    return read(in, expected, provider, MAX_DEPTH, /* sent= */ false);
  }

  /**
   * Reads the value of a parameter that a client sent, and rejects a value that would take long to
   * read.
   *
   * @throws WireFormatException if the bytes are not a value, or a number in JSON has more digits
   *     than {@link JsonNumbers#MAX_DIGITS}
   */
  static Value readSent(WireReader in) {
    return read(in, null, null, MAX_DEPTH, /* sent= */ true);
  }

  /**
   * Reads a value that a node wrote for itself, however deeply it is nested: every stored value has
   * to be readable. Recurses once for each level.
   *
   * @throws WireFormatException if the bytes are not a value
   */
  public static Value readStored(
      WireReader in, @Nullable TypeInfo expected, @Nullable CastDataProvider provider) {
    return read(in, expected, provider, Integer.MAX_VALUE, /* sent= */ false);
  }

  private static Value read(
      WireReader in,
      @Nullable TypeInfo expected,
      @Nullable CastDataProvider provider,
      int levels,
      boolean sent) {
    try {
      return readLevel(in, expected, provider, levels, sent);
    } catch (DbException | ArithmeticException e) {
      throw new WireFormatException("not a value: " + e.getMessage());
    }
  }

  private static Value readLevel(
      WireReader in,
      @Nullable TypeInfo expected,
      @Nullable CastDataProvider provider,
      int levels,
      boolean sent) {
    if (levels < 0) {
      throw new WireFormatException("value nested deeper than " + MAX_DEPTH);
    }
    int type = TypeTags.typeOf(in.u8());
    return switch (type) {
      case Value.NULL -> ValueNull.INSTANCE;
      case Value.BOOLEAN -> ValueBoolean.get(in.flag());
      case Value.TINYINT -> ValueTinyint.get((byte) in.u8());
      case Value.SMALLINT -> ValueSmallint.get((short) in.u16());
      case Value.INTEGER -> ValueInteger.get(in.i32());
      case Value.BIGINT -> ValueBigint.get(in.i64());
      case Value.REAL -> ValueReal.get(Float.intBitsToFloat(in.i32()));
      case Value.DOUBLE -> ValueDouble.get(Double.longBitsToDouble(in.i64()));
      case Value.NUMERIC -> ValueNumeric.get(readDecimal(in));
      case Value.DECFLOAT -> readDecfloat(in);
      case Value.CHAR -> ValueChar.get(in.string());
      case Value.VARCHAR -> ValueVarchar.get(in.string());
      case Value.VARCHAR_IGNORECASE -> ValueVarcharIgnoreCase.get(in.string());
      case Value.CLOB -> ValueClob.createSmall(in.string());
      case Value.BINARY -> ValueBinary.getNoCopy(in.bytes());
      case Value.VARBINARY -> ValueVarbinary.getNoCopy(in.bytes());
      case Value.BLOB -> ValueBlob.createSmall(in.bytes());
      case Value.JSON -> readJson(in.bytes(), sent);
      case Value.GEOMETRY -> readGeometry(in, levels);
      case Value.UUID -> ValueUuid.get(in.i64(), in.i64());
      case Value.ENUM -> readEnum(in, expected, provider);
      case Value.ARRAY -> readArray(in, expected, provider, levels, sent);
      case Value.ROW -> readRow(in, expected, provider, levels, sent);
      case Value.UNKNOWN -> throw new WireFormatException("a value of unknown type");
      default -> readTemporal(in, type);
    };
  }

  private static Value readTemporal(WireReader in, int type) {
    return switch (type) {
      case Value.DATE -> ValueDate.fromDateValue(dateValue(in));
      case Value.TIME -> ValueTime.fromNanos(nanosOfDay(in));
      case Value.TIME_TZ -> ValueTimeTimeZone.fromNanos(nanosOfDay(in), offset(in));
      case Value.TIMESTAMP -> ValueTimestamp.fromDateValueAndNanos(dateValue(in), nanosOfDay(in));
      case Value.TIMESTAMP_TZ ->
          ValueTimestampTimeZone.fromDateValueAndNanos(dateValue(in), nanosOfDay(in), offset(in));
      default ->
          ValueInterval.from(
              IntervalQualifier.valueOf(type - Value.INTERVAL_YEAR), in.flag(), in.i64(), in.i64());
    };
  }

  private static Value readEnum(
      WireReader in, @Nullable TypeInfo expected, @Nullable CastDataProvider provider) {
    int ordinal = in.i32();
    String label = in.string();
    if (expected != null && expected.getExtTypeInfo() instanceof ExtTypeInfoEnum labels) {
      return labels.getValue(ordinal, provider);
    }
    return ValueVarchar.get(label);
  }

  private static Value readArray(
      WireReader in,
      @Nullable TypeInfo expected,
      @Nullable CastDataProvider provider,
      int levels,
      boolean sent) {
    TypeInfo elementType =
        expected != null && expected.getExtTypeInfo() instanceof TypeInfo type ? type : null;
    List<Value> read = new ArrayList<>();
    for (int i = in.count(1); i > 0; i--) {
      read.add(readLevel(in, elementType, provider, levels - 1, sent));
    }
    Value[] elements = read.toArray(Value.EMPTY_VALUES);
    return elementType == null
        ? ValueArray.get(elements, provider)
        : ValueArray.get(elementType, elements, provider);
  }

  private static Value readRow(
      WireReader in,
      @Nullable TypeInfo expected,
      @Nullable CastDataProvider provider,
      int levels,
      boolean sent) {
    ExtTypeInfoRow row =
        expected != null && expected.getExtTypeInfo() instanceof ExtTypeInfoRow fields
            ? fields
            : null;
    int count = in.count(1);
    var fields = row != null && row.getFields().size() == count ? row.getFields() : null;
    var types = fields == null ? null : fields.iterator();
    List<Value> read = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      TypeInfo type = types == null ? null : types.next().getValue();
      read.add(readLevel(in, type, provider, levels - 1, sent));
    }
    Value[] elements = read.toArray(Value.EMPTY_VALUES);
    return fields == null || expected == null
        ? ValueRow.get(elements)
        : ValueRow.get(expected, elements);
  }

  /**
   * Checks the nesting of a geometry. H2 parses the bytes only when it first uses them, and follows
   * any nesting. An array around the geometry counts separately.
   */
  private static Value readGeometry(WireReader in, int levels) {
    byte[] ewkb = in.bytes();
    try {
      EWKBUtils.parseEWKB(ewkb, new DepthLimit(Math.max(levels, MAX_DEPTH)));
      return ValueGeometry.getFromEWKB(ewkb);
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new WireFormatException("geometry of " + ewkb.length + " bytes is no EWKB");
    }
  }

  /** Rejects geometry collections that are nested too deeply. */
  private static final class DepthLimit extends GeometryUtils.Target {
    private final int levels;

    DepthLimit(int levels) {
      this.levels = levels;
    }

    @Override
    protected GeometryUtils.Target startCollectionItem(int index, int total) {
      if (levels == 0) {
        throw new WireFormatException("geometry nested deeper than " + MAX_DEPTH);
      }
      return new DepthLimit(levels - 1);
    }

    @Override
    protected void addCoordinate(double x, double y, double z, double m, int index, int total) {}
  }

  private static Value readJson(byte[] json, boolean sent) {
    if (sent && !JsonNumbers.areShort(json)) {
      throw new WireFormatException(
          "a number in JSON has more than " + JsonNumbers.MAX_DIGITS + " digits");
    }
    return ValueJson.fromJson(json);
  }

  private static BigDecimal readDecimal(WireReader in) {
    int scale = in.i32();
    byte[] unscaled = in.bytes();
    if (scale < -MAX_SCALE || scale > MAX_SCALE || unscaled.length == 0) {
      throw new WireFormatException("number with scale " + scale);
    }
    return new BigDecimal(new BigInteger(unscaled), scale);
  }

  private static Value readDecfloat(WireReader in) {
    int kind = in.u8();
    return switch (kind) {
      case FINITE -> ValueDecfloat.get(readDecimal(in));
      case POSITIVE_INFINITY -> ValueDecfloat.POSITIVE_INFINITY;
      case NEGATIVE_INFINITY -> ValueDecfloat.NEGATIVE_INFINITY;
      case NOT_A_NUMBER -> ValueDecfloat.NAN;
      default -> throw new WireFormatException("decfloat kind " + kind);
    };
  }

  private static long dateValue(WireReader in) {
    long value = in.i64();
    boolean valid =
        DateTimeUtils.isValidDate(
            DateTimeUtils.yearFromDateValue(value),
            DateTimeUtils.monthFromDateValue(value),
            DateTimeUtils.dayFromDateValue(value));
    if (!valid || value < DateTimeUtils.MIN_DATE_VALUE || value > DateTimeUtils.MAX_DATE_VALUE) {
      throw new WireFormatException("date " + value);
    }
    return value;
  }

  private static long nanosOfDay(WireReader in) {
    long nanos = in.i64();
    if (nanos < 0 || nanos >= DateTimeUtils.NANOS_PER_DAY) {
      throw new WireFormatException("nanoseconds of day " + nanos);
    }
    return nanos;
  }

  private static int offset(WireReader in) {
    int seconds = in.i32();
    if (seconds < -MAX_OFFSET_SECONDS || seconds > MAX_OFFSET_SECONDS) {
      throw new WireFormatException("time zone offset " + seconds);
    }
    return seconds;
  }
}
