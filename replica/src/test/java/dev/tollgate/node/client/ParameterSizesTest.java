package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.SizeRanges;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.sql.StatementShape;
import dev.tollgate.value.Parameter;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.h2.api.IntervalQualifier;
import org.h2.value.ExtTypeInfoEnum;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueBigint;
import org.h2.value.ValueBinary;
import org.h2.value.ValueBlob;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueChar;
import org.h2.value.ValueClob;
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
import org.junit.jupiter.api.Test;

/** The sizes of parameters are compared with those that were tried. */
class ParameterSizesTest {
  private static final StatementShape SHAPE =
      ((Plan.Write) new SqlFrontend(0).plan("UPDATE T SET A = ? WHERE B = ?")).shape();

  private static byte[] set(Value first, Value second) {
    return Parameter.encodeValues(List.of(first, second));
  }

  private static void same(boolean covered, Value tried, Value asked) {
    for (boolean swapped : List.of(false, true)) {
      SizeRanges ranges = new SizeRanges(SHAPE.positions());
      ParameterSizes sizes = new ParameterSizes(SHAPE, ranges);
      byte[] known = swapped ? set(ValueNull.INSTANCE, tried) : set(tried, ValueNull.INSTANCE);
      sizes.cover(known);
      assertTrue(sizes.covers(known), tried.toString());
      byte[] wanted = swapped ? set(ValueNull.INSTANCE, asked) : set(asked, ValueNull.INSTANCE);
      assertEquals(covered, sizes.covers(wanted), tried + " and " + asked);
    }
  }

  private static Value text(String text) {
    return ValueVarchar.get(text);
  }

  @Test
  void largerAndSmallerValuesWereNotTried() {
    same(true, ValueInteger.get(4), ValueInteger.get(15));
    same(false, ValueInteger.get(10), ValueInteger.get(8_000));
    same(false, ValueInteger.get(8_000), ValueInteger.get(10));
    same(false, ValueInteger.get(10), ValueInteger.get(-10));
    same(true, ValueBigint.get(10), ValueTinyint.get((byte) 10));
    same(false, text("a"), text("a".repeat(8_000)));
    same(false, text("abcd"), text("\u03a3\u03a3"));
    same(false, text("1000"), text("9999999"));
    same(false, text("1E1"), text("1E9"));
    same(false, ValueDouble.get(1), ValueDouble.get(1e9));
    same(
        false,
        ValueNumeric.get(new BigDecimal("10.000000")),
        ValueNumeric.get(new BigDecimal("9000000")));
    same(false, ValueDecfloat.get(new BigDecimal("1")), ValueDecfloat.get(new BigDecimal("1E9")));
    same(false, ValueVarbinary.get(new byte[3]), ValueVarbinary.get(new byte[70]));
    same(true, text("miller"), text("smith"));
    same(false, ValueReal.get(1), ValueReal.get(1e9f));
    same(false, ValueSmallint.get((short) 1), ValueSmallint.get((short) 9_000));
    same(false, ValueDate.parse("2026-01-01"), ValueDate.parse("-2026-01-01"));
    same(false, ValueTime.fromNanos(1), ValueTime.fromNanos(9_000_000_000L));
    same(false, ValueTimeTimeZone.fromNanos(1, 0), ValueTimeTimeZone.fromNanos(9_000_000_000L, 0));
    same(
        false,
        ValueInterval.from(IntervalQualifier.DAY, false, 1, 0),
        ValueInterval.from(IntervalQualifier.DAY, false, 9_000, 0));
    same(false, ValueJson.fromJson("[1]"), ValueJson.fromJson("[1,2,3,4,5,6,7,8,9,10]"));
    same(false, ValueClob.createSmall("a"), ValueClob.createSmall("a".repeat(8_000)));
    same(
        false,
        ValueArray.get(new Value[] {text("a")}, null),
        ValueArray.get(new Value[] {text("a".repeat(8_000))}, null));
    same(
        false,
        ValueRow.get(new Value[] {ValueInteger.get(1)}),
        ValueRow.get(Collections.nCopies(70, ValueInteger.get(1)).toArray(new Value[0])));
  }

  @Test
  void valuesOfAllTypesAreRead() {
    List<Value> values = new ArrayList<>();
    for (IntervalQualifier qualifier : IntervalQualifier.values()) {
      values.add(ValueInterval.from(qualifier, true, 1, 0));
    }
    values.addAll(
        List.of(
            ValueNull.INSTANCE,
            ValueBoolean.TRUE,
            ValueTinyint.get((byte) -1),
            ValueSmallint.get((short) -1),
            ValueInteger.get(Integer.MIN_VALUE),
            ValueBigint.get(Long.MIN_VALUE),
            ValueReal.get(Float.NaN),
            ValueDouble.get(Double.NEGATIVE_INFINITY),
            ValueNumeric.get(new BigDecimal("-1.5")),
            ValueDecfloat.NAN,
            text(""),
            text(" - "),
            ValueChar.get("a"),
            ValueVarcharIgnoreCase.get("a"),
            ValueClob.createSmall("a"),
            ValueBinary.get(new byte[5]),
            ValueVarbinary.get(new byte[5]),
            ValueBlob.createSmall(new byte[5]),
            ValueDate.parse("2026-01-01"),
            ValueTime.fromNanos(1),
            ValueTimeTimeZone.fromNanos(1, 60),
            ValueTimestamp.fromDateValueAndNanos(1_037_345, 1),
            ValueTimestampTimeZone.fromDateValueAndNanos(1_037_345, 1, 60),
            ValueUuid.get(1, 2),
            new ExtTypeInfoEnum(new String[] {"RED"}).getValue(1, null),
            ValueJson.fromJson("[1]"),
            ValueGeometry.get("POINT (1 2)"),
            ValueArray.EMPTY,
            ValueRow.EMPTY));
    BitSet types = new BitSet();
    values.forEach(value -> types.set(value.getValueType()));
    types.set(Value.JAVA_OBJECT); // which is never sent
    assertEquals(Value.TYPE_COUNT, types.nextClearBit(0));
    for (Value value : values) {
      same(true, value, value);
      same(
          true, ValueRow.get(new Value[] {value, value}), ValueRow.get(new Value[] {value, value}));
      same(
          true,
          ValueArray.get(new Value[] {value}, null),
          ValueArray.get(new Value[] {value}, null));
    }
  }

  @Test
  void triedShapesAreForgottenAfterSomeTimeAndBeyondTheirMemory() {
    long[] nanos = {0};
    TriedShapes tried = new TriedShapes(() -> nanos[0], 10_000);
    tried.add(SHAPE, set(text("a"), text("b")));
    assertNotNull(tried.ranges(SHAPE));
    nanos[0] = TimeUnit.MILLISECONDS.toNanos(Limits.REHEARSED_MILLIS) + 1;
    assertNull(tried.ranges(SHAPE));
    tried.add(SHAPE, set(text("a"), text("b")));
    assertNotNull(tried.ranges(SHAPE));
    byte[] none = Parameter.encodeValues(List.of());
    for (int i = 0; i < 50; i++) {
      String other = "DELETE FROM T WHERE A" + i + " = 1";
      tried.add(((Plan.Write) new SqlFrontend(0).plan(other)).shape(), none);
    }
    assertNull(tried.ranges(SHAPE));
  }

  @Test
  void whatIsNotANumeralHasNoAmount() {
    for (String text : List.of("", "-", "1e", "e5", "1e+", "1.2.3", ".", "2026-01-01", "a")) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      assertFalse(SizeRanges.isNumeral(SizeRanges.ofNumeral(bytes, 0, bytes.length)), text);
    }
  }
}
