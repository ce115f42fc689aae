package dev.tollgate.store;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueBigint;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueDouble;
import org.h2.value.ValueInteger;
import org.h2.value.ValueNull;
import org.h2.value.ValueNumeric;
import org.h2.value.ValueVarbinary;
import org.h2.value.ValueVarchar;

/** The values over which functions stumble, by the kind that H2's grammar names. */
final class OddValues {
  private static final Map<String, List<String>> LITERALS =
      Map.ofEntries(
          Map.entry(
              "int",
              List.of(
                  "0",
                  "1",
                  "2",
                  "-1",
                  "7",
                  "63",
                  "64",
                  "2147483647",
                  "-2147483648",
                  "2147483648",
                  "300000")),
          Map.entry(
              "long",
              List.of(
                  "0",
                  "1",
                  "3",
                  "-1",
                  "65",
                  "9223372036854775807",
                  "-9223372036854775808",
                  "9223372036854775808",
                  "4294967296")),
          Map.entry(
              "numeric",
              List.of(
                  "0",
                  "1",
                  "-1",
                  "0.5",
                  "-0.0000001",
                  "1E0",
                  "1E308",
                  "1E-400",
                  "1E400",
                  "99999999999999999999999999999999999999",
                  "CAST('NaN' AS DOUBLE)",
                  "CAST('-0.0' AS DOUBLE)",
                  "CAST('Infinity' AS DECFLOAT)",
                  "CAST('NaN' AS DECFLOAT)",
                  "CAST('Infinity' AS REAL)",
                  "CAST(1 AS NUMERIC(100, 90))",
                  "CAST(1E20 AS DECFLOAT(34))",
                  "0x7fffffffffffffffff")),
          Map.entry(
              "string",
              List.of(
                  "''",
                  "' '",
                  "'a'",
                  "'B'",
                  "'1'",
                  "'-1'",
                  "'%'",
                  "'\\'",
                  "'NaN'",
                  "''''",
                  "'2020-02-30'",
                  "'SHA-256'",
                  "'AES'",
                  "'T0'",
                  "'PUBLIC'",
                  "'<a b=\"--]]>\">'",
                  "'{\"a\":[1,null]}'",
                  "'(a+)+$'",
                  "U&'\\0000'",
                  "U&'\\d83d'",
                  "'\ud83d\ude00'",
                  "REPEAT('x', 3000)",
                  "REPEAT('-', 3000)",
                  "CAST('a' AS CHAR(5))",
                  "CAST('A' AS VARCHAR_IGNORECASE)",
                  "CAST('clob' AS CLOB)")),
          Map.entry(
              "bytes",
              List.of(
                  "X''", "X'00'", "X'ff'", "CAST(X'00ff' AS BLOB)", "CAST(X'01' AS BINARY(4))")),
          Map.entry("boolean", List.of("TRUE", "FALSE", "UNKNOWN")),
          Map.entry(
              "date",
              List.of(
                  "DATE '2020-02-29'",
                  "DATE '0001-01-01'",
                  "DATE '-1000000000-01-01'",
                  "DATE '1000000000-12-31'",
                  "DATE '1582-10-10'")),
          Map.entry(
              "time",
              List.of(
                  "TIME '00:00:00'", "TIME '23:59:59.999999999'", "CAST('12:00:00' AS TIME(0))")),
          Map.entry(
              "time_with_time_zone",
              List.of(
                  "TIME WITH TIME ZONE '10:00:00+00'",
                  "TIME WITH TIME ZONE '23:59:59.999999999-18:00'",
                  "TIME WITH TIME ZONE '00:00:00+18:00'")),
          Map.entry(
              "timestamp",
              List.of(
                  "TIMESTAMP '2020-02-29 23:59:59.999999999'",
                  "TIMESTAMP '-1000000000-01-01 00:00:00'",
                  "TIMESTAMP '1000000000-12-31 23:59:59.999999999'",
                  "TIMESTAMP '2021-03-28 02:30:00'")),
          Map.entry(
              "timestamp_with_time_zone",
              List.of(
                  "TIMESTAMP WITH TIME ZONE '2020-01-01 00:00:00+18:00'",
                  "TIMESTAMP WITH TIME ZONE '1000000000-12-31 23:59:59-18:00'",
                  "TIMESTAMP WITH TIME ZONE '2021-03-28 02:30:00 Europe/Berlin'")),
          Map.entry(
              "interval",
              List.of(
                  "INTERVAL '1' YEAR",
                  "INTERVAL '-1' MONTH",
                  "INTERVAL '999999999999999999' YEAR(18)",
                  "INTERVAL '1-2' YEAR TO MONTH",
                  "INTERVAL '1' DAY",
                  "INTERVAL '-99 23:59:59.999999999' DAY TO SECOND",
                  "INTERVAL '1:02' HOUR TO MINUTE",
                  "INTERVAL '0' SECOND",
                  "INTERVAL '999999999999999999' SECOND(18)",
                  "INTERVAL '1' HOUR")),
          Map.entry(
              "array",
              List.of(
                  "ARRAY[]",
                  "ARRAY[NULL]",
                  "ARRAY[1, 2, 1]",
                  "ARRAY['a', NULL]",
                  "ARRAY[ARRAY[1], ARRAY[]]",
                  "CAST(NULL AS INT ARRAY)",
                  "CAST(ARRAY[1] AS INT ARRAY[1])")),
          Map.entry(
              "json",
              List.of(
                  "JSON 'null'",
                  "JSON '{\"a\":[1,{}],\"a\":2}'",
                  "JSON '[1,\"x\"]'",
                  "CAST('x' AS JSON)",
                  "JSON '1e400'")),
          Map.entry(
              "geometry",
              List.of(
                  "GEOMETRY 'POINT EMPTY'",
                  "GEOMETRY 'POINT(1 2)'",
                  "GEOMETRY 'SRID=1;LINESTRING(0 0, 1 1)'",
                  "GEOMETRY 'GEOMETRYCOLLECTION EMPTY'")),
          Map.entry(
              "uuid",
              List.of(
                  "UUID '00000000-0000-0000-0000-000000000000'",
                  "UUID 'ffffffff-ffff-4fff-bfff-ffffffffffff'")),
          Map.entry("row", List.of("ROW(1, 2)", "ROW(NULL, 'a')", "ROW(1)", "ROW()")),
          Map.entry("enum", List.of("CAST('x' AS ENUM('x', 'y'))", "CAST(NULL AS ENUM('x'))")));

  private static final List<String> KINDS = LITERALS.keySet().stream().sorted().toList();
  private static final List<String> OF_DATES =
      List.of("date", "time", "time_with_time_zone", "timestamp", "timestamp_with_time_zone");

  private static final List<Value> PARAMETERS =
      List.of(
          ValueNull.INSTANCE,
          ValueInteger.get(0),
          ValueInteger.get(1),
          ValueInteger.get(-1),
          ValueInteger.get(Integer.MAX_VALUE),
          ValueBigint.get(Long.MIN_VALUE),
          ValueBigint.get(Long.MAX_VALUE),
          ValueDouble.get(Double.NaN),
          ValueDouble.get(1E300),
          ValueNumeric.get(new BigDecimal("-1.50")),
          ValueVarchar.get(""),
          ValueVarchar.get("a"),
          ValueVarchar.get("x".repeat(2_000)),
          ValueVarchar.get("\ud83d"),
          ValueBoolean.TRUE,
          ValueVarbinary.getNoCopy(new byte[] {0, -1}),
          ValueArray.get(new Value[] {ValueInteger.get(1), ValueNull.INSTANCE}, null));

  private final Random random;

  OddValues(Random random) {
    this.random = random;
  }

  static boolean isKind(String kind) {
    return LITERALS.containsKey(kind) || kind.equals("value") || kind.equals("date_and_time");
  }

  /** A literal of this kind; now and then NULL, or one of another kind. */
  String literal(String kind) {
    int dice = random.nextInt(20);
    if (dice == 0) {
      return "NULL";
    }
    if (dice == 1) {
      return "CAST(NULL AS " + pick(List.of("INT", "VARCHAR", "DATE", "DECFLOAT", "JSON")) + ")";
    }
    if (dice == 2 || kind.equals("value")) {
      return pick(LITERALS.get(pick(KINDS)));
    }
    return pick(LITERALS.get(kind.equals("date_and_time") ? pick(OF_DATES) : kind));
  }

  Value parameter() {
    return pick(PARAMETERS);
  }

  private <T> T pick(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }
}
