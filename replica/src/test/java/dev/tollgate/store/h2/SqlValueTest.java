package dev.tollgate.store.h2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.h2.api.IntervalQualifier;
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

class SqlValueTest {
  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Two of each type, of different lengths, scales and kinds. */
  private static List<Value> values() {
    return List.of(
        ValueNull.INSTANCE,
        ValueBoolean.TRUE,
        ValueTinyint.get((byte) 1),
        ValueSmallint.get((short) 1),
        ValueInteger.get(1),
        ValueBigint.get(22),
        ValueNumeric.get(new BigDecimal("1.5")),
        ValueNumeric.get(new BigDecimal("22.756")),
        ValueNumeric.get(new BigDecimal("1000000")),
        ValueReal.get(1.5f),
        ValueDouble.get(2.5),
        ValueDecfloat.get(new BigDecimal("1.25e-9")),
        ValueDecfloat.get(new BigDecimal("1e5")),
        ValueDecfloat.NAN,
        ValueChar.get("a"),
        ValueChar.get("bbb"),
        ValueVarchar.get("a"),
        ValueVarchar.get("bbb"),
        ValueVarcharIgnoreCase.get("A"),
        ValueVarcharIgnoreCase.get("BBB"),
        ValueClob.createSmall("a"),
        ValueClob.createSmall("bbb"),
        ValueBinary.get(bytes("a")),
        ValueBinary.get(bytes("bbb")),
        ValueVarbinary.get(bytes("a")),
        ValueVarbinary.get(bytes("bbb")),
        ValueBlob.createSmall(bytes("a")),
        ValueBlob.createSmall(bytes("bbb")),
        ValueDate.parse("2026-11-24"),
        ValueTime.parse("01:02:03", null),
        ValueTime.parse("01:02:03.123456789", null),
        ValueTimeTimeZone.parse("01:02:03+01", null),
        ValueTimeTimeZone.parse("01:02:03.123456789-02", null),
        ValueTimestamp.parse("2026-11-24 01:02:03", null),
        ValueTimestamp.parse("2026-11-24 01:02:03.123456789", null),
        ValueTimestampTimeZone.parse("2026-11-24 01:02:03+01", null),
        ValueTimestampTimeZone.parse("2026-11-24 01:02:03.123456789-02", null),
        ValueInterval.from(IntervalQualifier.SECOND, false, 5, 0),
        ValueInterval.from(IntervalQualifier.SECOND, false, 5_000, 123_456_789),
        ValueInterval.from(IntervalQualifier.YEAR, true, 5, 0),
        ValueJson.fromJson("1"),
        ValueJson.fromJson("{\"a\":[1,2]}"),
        ValueUuid.get(1, 2),
        ValueGeometry.get("POINT(1 2)"),
        ValueGeometry.get("SRID=4326;POINT Z(1 2 3)"),
        ValueArray.get(new Value[] {ValueInteger.get(1)}, null),
        ValueRow.get(new Value[] {ValueInteger.get(1)}));
  }

  @Test
  void arrayOfAnyTwoValuesIsMadeOrRefused() throws SQLException {
    int made = 0;
    for (Value first : values()) {
      for (Value second : values()) {
        List<SqlValue> elements =
            List.of(SqlValue.of(ValueNull.INSTANCE), SqlValue.of(first), SqlValue.of(second));
        try {
          ValueArray array = (ValueArray) SqlValue.ofArray(elements).h2();
          assertEquals(3, array.getList().length);
          made++;
        } catch (SQLException e) {
          assertEquals("22023", e.getSQLState(), () -> first + ", " + second);
          assertTrue(e.getMessage().contains("write elements of one type"), e::getMessage);
        }
      }
    }
    assertTrue(made >= values().size(), made + " arrays");
  }

  @Test
  void textsOfAllLengthsMakeAnArray() throws SQLException {
    List<SqlValue> texts = new ArrayList<>();
    for (Value value :
        List.of(
            ValueVarchar.get("a"), ValueNull.INSTANCE, ValueChar.get("bbb"), ValueVarchar.EMPTY)) {
      texts.add(SqlValue.of(value));
    }
    Value[] elements = ((ValueArray) SqlValue.ofArray(texts).h2()).getList();
    assertEquals("bbb", elements[2].getString());
  }

  @Test
  void numbersOfDifferentScalesMakeNone() {
    List<SqlValue> numbers =
        List.of(
            SqlValue.of(ValueNumeric.get(new BigDecimal("1.5"))),
            SqlValue.of(ValueNumeric.get(new BigDecimal("22.75"))));
    assertEquals(
        "an array has elements of the types NUMERIC(2, 1) and NUMERIC(4, 2): write elements of one"
            + " type",
        assertThrows(SQLException.class, () -> SqlValue.ofArray(numbers)).getMessage());
  }
}
