package dev.tollgate.value;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.ResultSetMetaData;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.h2.api.IntervalQualifier;
import org.h2.message.DbException;
import org.h2.result.SimpleResult;
import org.h2.util.DateTimeUtils;
import org.h2.value.ExtTypeInfoEnum;
import org.h2.value.ExtTypeInfoGeometry;
import org.h2.value.ExtTypeInfoNumeric;
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
import org.h2.value.ValueDate;
import org.h2.value.ValueDecfloat;
import org.h2.value.ValueDouble;
import org.h2.value.ValueGeometry;
import org.h2.value.ValueInteger;
import org.h2.value.ValueInterval;
import org.h2.value.ValueJavaObject;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ValuesTest {
  static final ExtTypeInfoEnum COLOURS = new ExtTypeInfoEnum(new String[] {"red", "green"});
  static final TypeInfo COLOUR = TypeInfo.getTypeInfo(Value.ENUM, -1, -1, COLOURS);
  private static final long NANOS_OF_DAY = DateTimeUtils.NANOS_PER_DAY - 1;
  private static final int OFFSET = 18 * 3600;

  static List<Value> values() {
    List<Value> values = new java.util.ArrayList<>(plainValues());
    values.addAll(temporalValues());
    for (IntervalQualifier qualifier : IntervalQualifier.values()) {
      values.add(ValueInterval.from(qualifier, false, 0, 0));
      values.add(ValueInterval.from(qualifier, true, 123, qualifier.hasMultipleFields() ? 1 : 0));
    }
    values.addAll(composedValues());
    return values;
  }

  private static List<Value> plainValues() {
    return List.of(
        ValueNull.INSTANCE,
        ValueBoolean.TRUE,
        ValueBoolean.FALSE,
        ValueTinyint.get(Byte.MIN_VALUE),
        ValueTinyint.get(Byte.MAX_VALUE),
        ValueSmallint.get(Short.MIN_VALUE),
        ValueSmallint.get(Short.MAX_VALUE),
        ValueInteger.get(Integer.MIN_VALUE),
        ValueInteger.get(Integer.MAX_VALUE),
        ValueBigint.get(Long.MIN_VALUE),
        ValueBigint.get(Long.MAX_VALUE),
        ValueReal.get(Float.MIN_VALUE),
        ValueReal.get(-Float.MAX_VALUE),
        ValueReal.get(Float.NaN),
        ValueReal.get(-0f),
        ValueDouble.get(Double.MIN_VALUE),
        ValueDouble.get(Double.NEGATIVE_INFINITY),
        ValueDouble.get(Double.NaN),
        ValueNumeric.get(BigDecimal.ZERO),
        ValueNumeric.get(new BigDecimal("-1.50")),
        ValueNumeric.get(new BigDecimal(BigInteger.TEN.pow(1000).negate(), 500)),
        ValueDecfloat.get(new BigDecimal("1E+9")),
        ValueDecfloat.get(new BigDecimal("-123.456")),
        ValueDecfloat.POSITIVE_INFINITY,
        ValueDecfloat.NEGATIVE_INFINITY,
        ValueDecfloat.NAN,
        ValueChar.get("x"),
        ValueVarchar.get(""),
        ValueVarchar.get("\u00e4 \u0000 \ud83d\ude00"),
        ValueVarcharIgnoreCase.get("aBc"),
        ValueClob.createSmall("x".repeat(100_000)),
        ValueBinary.get(new byte[] {0, -1}),
        ValueVarbinary.get(new byte[0]),
        ValueBlob.createSmall(new byte[100_000]),
        ValueUuid.get(Long.MIN_VALUE, -1),
        ValueJson.fromJson("{\"a\":[1,null,{\"b\":\"\\u00e4\"}]}"),
        ValueJson.fromJson("null"),
        ValueGeometry.get("POINT (1 2)"),
        ValueGeometry.get("SRID=4326;GEOMETRYCOLLECTION Z (POINT Z (1 2 3), LINESTRING Z EMPTY)"),
        COLOURS.getValue(2, null));
  }

  private static List<Value> temporalValues() {
    return List.of(
        ValueDate.fromDateValue(DateTimeUtils.MIN_DATE_VALUE),
        ValueDate.fromDateValue(DateTimeUtils.MAX_DATE_VALUE),
        ValueDate.fromDateValue(DateTimeUtils.dateValue(2024, 2, 29)),
        ValueTime.fromNanos(0),
        ValueTime.fromNanos(NANOS_OF_DAY),
        ValueTimeTimeZone.fromNanos(NANOS_OF_DAY, -OFFSET),
        ValueTimestamp.fromDateValueAndNanos(DateTimeUtils.MAX_DATE_VALUE, NANOS_OF_DAY),
        ValueTimestampTimeZone.fromDateValueAndNanos(DateTimeUtils.MIN_DATE_VALUE, 0, OFFSET));
  }

  private static List<Value> composedValues() {
    Value inner = ValueArray.get(TypeInfo.TYPE_INTEGER, new Value[] {ValueInteger.get(1)}, null);
    return List.of(
        ValueArray.get(TypeInfo.TYPE_INTEGER, Value.EMPTY_VALUES, null),
        ValueArray.get(
            TypeInfo.TYPE_INTEGER, new Value[] {ValueInteger.get(1), ValueNull.INSTANCE}, null),
        ValueArray.get(inner.getType(), new Value[] {inner, ValueNull.INSTANCE, inner}, null),
        ValueRow.get(new Value[] {ValueInteger.get(1), ValueVarchar.get("x")}),
        ValueRow.get(new Value[0]));
  }

  private static byte[] bytes(Value value) {
    WireWriter out = new WireWriter();
    ValueCodec.write(out, value);
    return out.toByteArray();
  }

  private static Value read(byte[] bytes, TypeInfo expected) {
    WireReader in = new WireReader(bytes);
    Value value = ValueCodec.read(in, expected, null);
    in.expectEnd();
    return value;
  }

  @ParameterizedTest
  @MethodSource("values")
  void aValueIsReadAsItWasWritten(Value value) {
    Value read = read(bytes(value), value.getType());
    assertEquals(value.getValueType(), read.getValueType());
    if (value.getValueType() != Value.NULL) {
      assertEquals(value, read);
      assertEquals(value.getSQL(0), read.getSQL(0));
      assertEquals(value.getType().getSQL(0), read.getType().getSQL(0));
    }
    assertArrayEquals(bytes(value), bytes(read), "equal values have equal bytes");
  }

  @Test
  void everyTypeIsAmongTheValues() {
    Set<Integer> missing = IntStream.range(0, Value.TYPE_COUNT).boxed().collect(Collectors.toSet());
    values().forEach(value -> missing.remove(value.getValueType()));
    assertEquals(Set.of(Value.JAVA_OBJECT), missing);
  }

  @Test
  void javaObjectsDoNotTravel() {
    Value object = ValueJavaObject.getNoCopy(new byte[] {1});
    DbException e = assertThrows(DbException.class, () -> bytes(object));
    assertEquals("HYC00", e.getSQLException().getSQLState());
    assertTrue(e.getMessage().contains("VARBINARY"), e.getMessage());
  }

  @Test
  void withoutItsTypeAnEnumerationIsItsLabel() {
    assertEquals(ValueVarchar.get("green"), read(bytes(COLOURS.getValue(2, null)), null));
  }

  static List<TypeInfo> types() {
    LinkedHashMap<String, TypeInfo> fields = new LinkedHashMap<>();
    fields.put("A", TypeInfo.TYPE_INTEGER);
    fields.put("B", TypeInfo.getTypeInfo(Value.ARRAY, 3, -1, COLOUR));
    List<TypeInfo> types =
        new java.util.ArrayList<>(
            IntStream.range(0, Value.TYPE_COUNT)
                .filter(type -> type != Value.JAVA_OBJECT && type != Value.ROW)
                .filter(type -> type != Value.ARRAY && type != Value.ENUM)
                .mapToObj(TypeInfo::getTypeInfo)
                .toList());
    types.addAll(
        List.of(
            TypeInfo.TYPE_UNKNOWN,
            COLOUR,
            TypeInfo.getTypeInfo(Value.VARCHAR, 50, -1, null),
            TypeInfo.getTypeInfo(Value.NUMERIC, 10, 2, null),
            TypeInfo.getTypeInfo(Value.NUMERIC, 10, 2, ExtTypeInfoNumeric.DECIMAL),
            TypeInfo.getTypeInfo(Value.TIMESTAMP, -1, 3, null),
            TypeInfo.getTypeInfo(Value.INTERVAL_DAY_TO_SECOND, 5, 3, null),
            TypeInfo.getTypeInfo(Value.GEOMETRY, -1, -1, new ExtTypeInfoGeometry(1, 4326)),
            TypeInfo.getTypeInfo(Value.GEOMETRY, -1, -1, new ExtTypeInfoGeometry(0, null)),
            TypeInfo.getTypeInfo(Value.ARRAY, -1, -1, TypeInfo.TYPE_DATE),
            TypeInfo.getTypeInfo(Value.ROW, -1, -1, new ExtTypeInfoRow(fields))));
    return types;
  }

  @ParameterizedTest
  @MethodSource("types")
  void aTypeIsReadAsItWasWritten(TypeInfo type) {
    WireWriter out = new WireWriter();
    TypeCodec.write(out, type);
    WireReader in = new WireReader(out.toByteArray());
    TypeInfo read = TypeCodec.read(in);
    in.expectEnd();
    assertEquals(type, read);
    assertEquals(type.getValueType(), read.getValueType());
    if (type.getValueType() != Value.UNKNOWN) {
      assertEquals(type.getSQL(0), read.getSQL(0));
    }
  }

  @Test
  void aTypeThatDoesNotTravelIsWrittenAsText() {
    WireWriter out = new WireWriter();
    TypeCodec.write(out, TypeInfo.TYPE_JAVA_OBJECT);
    assertEquals(TypeInfo.TYPE_VARCHAR, TypeCodec.read(new WireReader(out.toByteArray())));
  }

  @Test
  void typeIsSentAsIfItWereDeclared() {
    assertEquals(
        encoded(TypeInfo.getTypeInfo(Value.VARCHAR, 11, 0, null)),
        encoded(new TypeInfo(Value.VARCHAR, 11, 0, null)));
    assertEquals(
        TypeInfo.TYPE_NULL, read(new TypeInfo(Value.ARRAY, -1, -1, null)).getExtTypeInfo());
    assertEquals(
        Set.of(),
        ((ExtTypeInfoRow) read(new TypeInfo(Value.ROW, -1, -1, null)).getExtTypeInfo())
            .getFields());
  }

  private static String encoded(TypeInfo type) {
    WireWriter out = new WireWriter(64);
    TypeCodec.write(out, type);
    return HexFormat.of().formatHex(out.toByteArray());
  }

  private static TypeInfo read(TypeInfo type) {
    return TypeCodec.read(new WireReader(HexFormat.of().parseHex(encoded(type))));
  }

  @Test
  void parametersAreReadAsTheyWereWritten() {
    List<Parameter> parameters =
        List.of(
            new Parameter(TypeInfo.TYPE_UNKNOWN, ResultSetMetaData.columnNullableUnknown),
            new Parameter(COLOUR, ResultSetMetaData.columnNoNulls));
    assertEquals(parameters, Parameter.decode(Parameter.encode(parameters)));
    List<Value> values = List.of(ValueInteger.get(1), ValueNull.INSTANCE);
    assertEquals(values, Parameter.decodeValues(Parameter.encodeValues(values), null));
    byte[] leftOver = java.util.Arrays.copyOf(Parameter.encodeValues(values), 50);
    assertThrows(WireFormatException.class, () -> Parameter.decodeValues(leftOver, null));
  }

  private static SimpleResult numbers(int count) {
    SimpleResult result = new SimpleResult();
    result.addColumn("N", TypeInfo.TYPE_INTEGER);
    for (int i = 0; i < count; i++) {
      result.addRow(ValueInteger.get(i));
    }
    return result;
  }

  @Test
  void rowsComeInPages() {
    SimpleResult result = numbers(5);
    WireWriter out = StatementResult.beginRows(new WireWriter());
    assertTrue(RowSet.write(out, result, 2, Integer.MAX_VALUE, 7));
    RowSet rows = ((StatementResult.Rows) StatementResult.read(out.toByteArray(), null)).rows();
    assertEquals(5, rows.totalRows());
    assertEquals(7, rows.page().cursorId());
    assertEquals(2, rows.page().rows().size());
    assertEquals("N", rows.columns().get(0).label());

    out = StatementResult.beginPage(new WireWriter());
    assertEquals(false, RowSet.Page.write(out, result, 0, Integer.MAX_VALUE, 7));
    RowSet.Page last = StatementResult.readPage(out.toByteArray(), rows.columns(), null);
    assertEquals(0, last.cursorId());
    assertEquals(3, last.rows().size());
    assertEquals(ValueInteger.get(4), last.rows().get(2)[0]);
  }

  @Test
  void aPageEndsWithTheRowThatFillsIt() {
    WireWriter out = new WireWriter();
    assertTrue(RowSet.Page.write(out, numbers(1000), 0, 100, 1));
    assertTrue(out.size() >= 100 && out.size() < 120, out.size() + " bytes");
  }

  @Test
  void countsAndKeysAreReadAsTheyWereWritten() {
    WireWriter out = new WireWriter();
    StatementResult.writeCount(out, 42);
    assertEquals(
        new StatementResult.Updated(42, null), StatementResult.read(out.toByteArray(), null));
    out.clear();
    StatementResult.writeCountAndKeys(out, 2, numbers(2));
    StatementResult.Updated updated =
        (StatementResult.Updated) StatementResult.read(out.toByteArray(), null);
    assertEquals(2, updated.count());
    assertEquals(2, updated.keys().page().rows().size());
  }

  @Test
  void aSingleValueIsARowSet() {
    Column column = new Column("TOKEN", null, null, null, TypeInfo.TYPE_BIGINT, false, 1);
    WireWriter out = StatementResult.beginRows(new WireWriter());
    RowSet.writeSingle(out, column, ValueBigint.get(42));
    RowSet rows = ((StatementResult.Rows) StatementResult.read(out.toByteArray(), null)).rows();
    assertEquals(List.of(column), rows.columns());
    assertEquals(ValueBigint.get(42), rows.page().rows().get(0)[0]);
  }
}
