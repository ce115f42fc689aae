package dev.tollgate.node;

import java.math.BigDecimal;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import org.jspecify.annotations.Nullable;

/**
 * What a connection makes of times: every setter into every type, every getter of every type, casts
 * and functions. The answers are lines, one for each case, which are compared with those of H2.
 */
@SuppressWarnings("JavaUtilDate") // the classes of java.sql and java.util are what is examined
final class TimeZoneMatrix {
  /** Around the changes of summer time in Berlin and New York, in the past, and with a fraction. */
  private static final List<Instant> INSTANTS =
      List.of(
          Instant.parse("2026-01-15T12:00:00Z"),
          Instant.parse("2026-07-15T22:30:00.123456789Z"),
          // Berlin: the gap begins at 01:00, and the overlap has 00:30 and 01:30
          Instant.parse("2026-03-29T00:59:59.999999999Z"),
          Instant.parse("2026-03-29T01:00:00Z"),
          Instant.parse("2026-10-25T00:30:00Z"),
          Instant.parse("2026-10-25T01:30:00Z"),
          // New York: the same
          Instant.parse("2026-03-08T06:59:59Z"),
          Instant.parse("2026-03-08T07:00:00Z"),
          Instant.parse("2026-11-01T05:30:00Z"),
          Instant.parse("2026-11-01T06:30:00Z"),
          // Kathmandu was not at +05:45 then
          Instant.parse("1969-12-31T23:00:00.5Z"),
          Instant.parse("1900-06-01T00:00:00Z"));

  /** Local times that do not exist in Berlin or New York, and others that exist twice. */
  private static final List<LocalDateTime> LOCALS =
      List.of(
          LocalDateTime.parse("2026-03-29T02:30:00"),
          LocalDateTime.parse("2026-10-25T02:30:00"),
          LocalDateTime.parse("2026-03-08T02:30:00.000000001"),
          LocalDateTime.parse("2026-11-01T01:30:00"),
          LocalDateTime.parse("1970-01-01T00:00:00"));

  private static final Map<String, String> TYPES = new LinkedHashMap<>();

  static {
    TYPES.put("D", "DATE");
    TYPES.put("T", "TIME(9)");
    TYPES.put("TZ", "TIME(9) WITH TIME ZONE");
    TYPES.put("TS", "TIMESTAMP(9)");
    TYPES.put("TSTZ", "TIMESTAMP(9) WITH TIME ZONE");
    TYPES.put("V", "VARCHAR");
  }

  private static final List<Class<?>> CLASSES =
      List.of(
          Date.class,
          Time.class,
          Timestamp.class,
          java.util.Date.class,
          Calendar.class,
          LocalDate.class,
          LocalTime.class,
          LocalDateTime.class,
          OffsetTime.class,
          OffsetDateTime.class,
          ZonedDateTime.class,
          Instant.class,
          String.class);

  /** Reads and writes compute these alike. */
  private static final List<String> EXPRESSIONS =
      List.of(
          "EXTRACT(TIMEZONE_HOUR FROM CURRENT_TIMESTAMP) * 60 + EXTRACT(TIMEZONE_MINUTE FROM"
              + " CURRENT_TIMESTAMP)",
          "CAST(CURRENT_TIMESTAMP AS TIMESTAMP) = LOCALTIMESTAMP",
          "LOCALTIMESTAMP = CURRENT_TIMESTAMP",
          "CAST(LOCALTIMESTAMP AS DATE) = CURRENT_DATE",
          "CAST(LOCALTIMESTAMP AS TIME) = LOCALTIME",
          "EXTRACT(TIMEZONE_HOUR FROM CURRENT_TIME)",
          "TIMESTAMP '2026-07-15 12:00:00' AT LOCAL",
          "TIMESTAMP WITH TIME ZONE '2026-07-15 12:00:00+00' AT LOCAL",
          "TIMESTAMP '2026-07-15 12:00:00' AT TIME ZONE 'Asia/Tokyo'",
          "TIMESTAMP WITH TIME ZONE '2026-07-15 12:00:00+00' = TIMESTAMP '2026-07-15 14:00:00'",
          "TIMESTAMP WITH TIME ZONE '2026-07-15 12:00:00+00' IN (TIMESTAMP '2026-07-15 14:00:00',"
              + " TIMESTAMP '2026-07-15 08:00:00')",
          "EXTRACT(EPOCH FROM CAST(TIMESTAMP '2026-03-29 02:30:00' AS TIMESTAMP WITH TIME ZONE))",
          "EXTRACT(EPOCH FROM CAST(TIMESTAMP '2026-10-25 02:30:00' AS TIMESTAMP WITH TIME ZONE))",
          "EXTRACT(TIMEZONE_HOUR FROM TIMESTAMP '2026-07-15 12:00:00')",
          "DATEDIFF(HOUR, TIMESTAMP '2026-03-28 12:00:00', TIMESTAMP WITH TIME ZONE '2026-03-29"
              + " 12:00:00+00')",
          "CAST('2026-07-15 12:00:00' AS TIMESTAMP WITH TIME ZONE)",
          "CAST('2026-07-15 12:00:00+02' AS TIMESTAMP)",
          "CAST('2026-07-15 12:00:00 Europe/Paris' AS TIMESTAMP)",
          "CAST('12:00:00+02' AS TIME)",
          "CAST(DATE '2026-07-15' AS TIMESTAMP WITH TIME ZONE)",
          "CAST(TIME '12:00:00' AS TIME WITH TIME ZONE) = TIME WITH TIME ZONE '12:00:00+00'",
          "CAST(TIMESTAMP WITH TIME ZONE '2026-07-15 22:30:00+00' AS DATE)",
          "DATE_TRUNC(DAY, TIMESTAMP WITH TIME ZONE '2026-07-15 22:30:00+00')",
          "TIMESTAMP WITH TIME ZONE '2026-07-15 22:30:00+00' - TIMESTAMP '2026-07-15 12:00:00'",
          "(SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'TIME"
              + " ZONE')");

  /** Gives a parameter a value. */
  private interface Setter {
    void set(PreparedStatement statement, int parameter) throws SQLException;
  }

  private interface Getter {
    @Nullable Object get(ResultSet row, int column) throws SQLException;
  }

  private final Connection connection;
  private final ZoneId zone;
  private final List<String> lines = new ArrayList<>();

  /**
   * @param zone of the values that are set
   */
  TimeZoneMatrix(Connection connection, ZoneId zone) {
    this.connection = connection;
    this.zone = zone;
  }

  /** All cases, each with its answer. */
  List<String> run() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("DROP TABLE IF EXISTS TIMES");
      statement.execute("CREATE TABLE TIMES(ID INT PRIMARY KEY, " + columns() + ", N VARCHAR)");
    }
    Map<String, Setter> setters = setters();
    int id = 0;
    for (String column : TYPES.keySet()) {
      write(column, setters, id);
      id += setters.size();
    }
    read();
    cast();
    compare(setters);
    compute();
    return lines;
  }

  private static String columns() {
    List<String> columns = new ArrayList<>();
    TYPES.forEach((name, type) -> columns.add(name + " " + type));
    return String.join(", ", columns);
  }

  private Map<String, Setter> setters() {
    Map<String, Setter> setters = new LinkedHashMap<>();
    for (Instant instant : INSTANTS) {
      ofInstant(instant, setters);
      ofLocal(LocalDateTime.ofInstant(instant, zone), setters);
    }
    LOCALS.forEach(local -> ofLocal(local, setters));
    return setters;
  }

  private static Calendar calendar(String zone) {
    return new GregorianCalendar(TimeZone.getTimeZone(zone));
  }

  private void ofInstant(Instant instant, Map<String, Setter> setters) {
    String of = " " + instant;
    Date date = new Date(instant.toEpochMilli());
    Time time = new Time(instant.toEpochMilli());
    Timestamp timestamp = Timestamp.from(instant);
    Calendar calendar = calendar("America/New_York");
    calendar.setTimeInMillis(instant.toEpochMilli());
    setters.put("setDate" + of, (s, i) -> s.setDate(i, date));
    setters.put("setDate Tokyo" + of, (s, i) -> s.setDate(i, date, calendar("Asia/Tokyo")));
    setters.put("setTime" + of, (s, i) -> s.setTime(i, time));
    setters.put("setTime Tokyo" + of, (s, i) -> s.setTime(i, time, calendar("Asia/Tokyo")));
    setters.put("setTimestamp" + of, (s, i) -> s.setTimestamp(i, timestamp));
    setters.put("setTimestamp UTC" + of, (s, i) -> s.setTimestamp(i, timestamp, calendar("UTC")));
    setters.put(
        "setTimestamp Tokyo" + of, (s, i) -> s.setTimestamp(i, timestamp, calendar("Asia/Tokyo")));
    setters.put("sql.Date" + of, (s, i) -> s.setObject(i, date));
    setters.put("sql.Time" + of, (s, i) -> s.setObject(i, time));
    setters.put("sql.Timestamp" + of, (s, i) -> s.setObject(i, timestamp));
    setters.put(
        "sql.Timestamp typed" + of,
        (s, i) -> s.setObject(i, timestamp, Types.TIMESTAMP_WITH_TIMEZONE));
    setters.put("sql.Timestamp DATE" + of, (s, i) -> s.setObject(i, timestamp, Types.DATE));
    setters.put("util.Date" + of, (s, i) -> s.setObject(i, java.util.Date.from(instant)));
    setters.put("Calendar" + of, (s, i) -> s.setObject(i, calendar));
    setters.put("Instant" + of, (s, i) -> s.setObject(i, instant));
    setters.put("Instant typed" + of, (s, i) -> s.setObject(i, instant, Types.TIMESTAMP));
    setters.put("Offset" + of, (s, i) -> s.setObject(i, instant.atOffset(ZoneOffset.UTC)));
    setters.put("Zoned" + of, (s, i) -> s.setObject(i, instant.atZone(zone)));
    setters.put("text" + of, (s, i) -> s.setString(i, instant.toString()));
    setters.put("bare text" + of, (s, i) -> s.setString(i, instant.toString().replace("Z", "")));
  }

  private void ofLocal(LocalDateTime local, Map<String, Setter> setters) {
    String of = " " + local;
    setters.put("LocalDate" + of, (s, i) -> s.setObject(i, local.toLocalDate()));
    setters.put("LocalTime" + of, (s, i) -> s.setObject(i, local.toLocalTime()));
    setters.put("LocalDateTime" + of, (s, i) -> s.setObject(i, local));
    setters.put(
        "LocalDateTime typed" + of, (s, i) -> s.setObject(i, local, Types.TIMESTAMP_WITH_TIMEZONE));
    setters.put(
        "OffsetTime" + of,
        (s, i) -> s.setObject(i, local.toLocalTime().atOffset(ZoneOffset.ofHours(5))));
    setters.put("Timestamp.valueOf" + of, (s, i) -> s.setTimestamp(i, Timestamp.valueOf(local)));
    setters.put("local text" + of, (s, i) -> s.setString(i, local.toString().replace('T', ' ')));
  }

  private void write(String column, Map<String, Setter> setters, int firstId) throws SQLException {
    List<String> names = new ArrayList<>();
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO TIMES(ID, N, " + column + ") VALUES(?, ?, ?)")) {
      int id = firstId;
      for (Map.Entry<String, Setter> setter : setters.entrySet()) {
        String name = setter.getKey() + " into " + column;
        try {
          insert.setInt(1, id++);
          insert.setString(2, name);
          setter.getValue().set(insert, 3);
          insert.addBatch();
          names.add(name);
        } catch (SQLException e) {
          add(name, failure(e));
        }
      }
      int[] counts;
      try {
        counts = insert.executeBatch();
      } catch (BatchUpdateException e) {
        counts = e.getUpdateCounts();
      }
      for (int i = 0; i < names.size(); i++) {
        add(names.get(i), String.valueOf(counts[i]));
      }
    }
  }

  private void read() throws SQLException {
    Map<String, Getter> getters = getters();
    for (String column : TYPES.keySet()) {
      query(
          "SELECT N, " + column + " FROM TIMES WHERE " + column + " IS NOT NULL ORDER BY ID",
          row -> {
            String name = row.getString(1);
            getters.forEach((how, getter) -> add(name + " by " + how, answer(getter, row, 2)));
          });
    }
  }

  private static Map<String, Getter> getters() {
    Map<String, Getter> getters = new LinkedHashMap<>();
    getters.put("getDate", ResultSet::getDate);
    getters.put("getTime", ResultSet::getTime);
    getters.put("getTimestamp", ResultSet::getTimestamp);
    getters.put("getDate Tokyo", (r, i) -> r.getDate(i, calendar("Asia/Tokyo")));
    getters.put("getTime Tokyo", (r, i) -> r.getTime(i, calendar("Asia/Tokyo")));
    getters.put("getTimestamp Tokyo", (r, i) -> r.getTimestamp(i, calendar("Asia/Tokyo")));
    getters.put("getTimestamp UTC", (r, i) -> r.getTimestamp(i, calendar("UTC")));
    getters.put("getString", ResultSet::getString);
    getters.put("getObject", ResultSet::getObject);
    for (Class<?> type : CLASSES) {
      getters.put(type.getSimpleName(), (r, i) -> r.getObject(i, type));
    }
    return getters;
  }

  private void cast() throws SQLException {
    for (String column : TYPES.keySet()) {
      for (String type : TYPES.values()) {
        String sql =
            "SELECT N, CAST(CAST("
                + column
                + " AS "
                + type
                + ") AS VARCHAR) FROM TIMES WHERE "
                + (column.equals("V") ? "N LIKE 'local text%'" : column + " IS NOT NULL")
                + " ORDER BY ID";
        query(sql, row -> add(row.getString(1) + " as " + type, row.getString(2)));
      }
    }
  }

  private void compare(Map<String, Setter> setters) throws SQLException {
    for (String column : TYPES.keySet()) {
      try (PreparedStatement count =
          connection.prepareStatement("SELECT COUNT(*) FROM TIMES WHERE " + column + " < ?")) {
        for (Map.Entry<String, Setter> setter : setters.entrySet()) {
          String name = column + " < " + setter.getKey();
          if (!name.contains("2026-03-29T01:00:00Z") && !name.contains("T02:30")) {
            continue;
          }
          try {
            setter.getValue().set(count, 1);
            try (ResultSet row = count.executeQuery()) {
              row.next();
              add(name, row.getString(1));
            }
          } catch (SQLException e) {
            add(name, failure(e));
          }
        }
      }
    }
    try (PreparedStatement now =
        connection.prepareStatement("SELECT CURRENT_TIMESTAMP > ?, LOCALTIMESTAMP > ?")) {
      for (int minutes : new int[] {-90, -1, 1, 90}) {
        Timestamp near = Timestamp.from(Instant.now().plusSeconds(60L * minutes));
        now.setTimestamp(1, near);
        now.setTimestamp(2, near);
        try (ResultSet row = now.executeQuery()) {
          row.next();
          add("now > " + minutes, row.getString(1) + row.getString(2));
        }
      }
    }
  }

  private void compute() throws SQLException {
    int id = 1_000_000;
    for (String expression : EXPRESSIONS) {
      query("SELECT " + expression, row -> add(expression, row.getString(1)));
      if (expression.startsWith("(SELECT")) {
        continue;
      }
      String sql = "INSERT INTO TIMES(ID, N) VALUES(" + id + ", " + expression + ")";
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate(sql);
        query(
            "SELECT N FROM TIMES WHERE ID = " + id,
            row -> add("stored " + expression, row.getString(1)));
      } catch (SQLException e) {
        add("stored " + expression, failure(e));
      }
      id++;
    }
  }

  private interface RowUse {
    void of(ResultSet row) throws SQLException;
  }

  private void query(String sql, RowUse use) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        use.of(rows);
      }
    } catch (SQLException e) {
      add(sql, failure(e));
    }
  }

  private void add(String name, @Nullable String answer) {
    lines.add(name + " = " + answer);
  }

  private static String answer(Getter getter, ResultSet row, int column) {
    try {
      return shown(getter.get(row, column));
    } catch (SQLException e) {
      return failure(e);
    }
  }

  private static String failure(SQLException e) {
    return "SQLState " + e.getSQLState() + ", code " + e.getErrorCode();
  }

  private static String shown(@Nullable Object value) {
    if (value instanceof Timestamp timestamp) {
      return "Timestamp " + timestamp.getTime() + " ms " + timestamp.getNanos() + " ns";
    }
    if (value instanceof java.util.Date date) {
      return date.getClass().getSimpleName() + " " + date.getTime() + " ms";
    }
    if (value instanceof Calendar calendar) {
      return "Calendar " + calendar.getTimeInMillis() + " ms in " + calendar.getTimeZone().getID();
    }
    return value == null
        ? "null"
        : value.getClass().getSimpleName()
            + " "
            + (value instanceof BigDecimal number ? number.toPlainString() : value);
  }
}
