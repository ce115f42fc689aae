package dev.tollgate.h2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A search by an index finds what a scan finds, or fails as it does, whatever the type of the value
 * that is searched for.
 */
class IndexSearchTest {
  private static final List<Object> VALUES =
      List.of(
          true,
          (byte) 1,
          5,
          -7L,
          300L,
          new BigDecimal("5.00"),
          new BigDecimal("-7.5"),
          new BigDecimal("1E+40"),
          5.5f,
          5.0d,
          Double.NaN,
          Double.NEGATIVE_INFINITY,
          "x",
          "X",
          "5",
          "05",
          "5.5",
          "-7.5",
          "true",
          "NaN",
          "",
          "2024-03-31",
          "2024-03-31 02:30:00",
          "00000000-0000-0000-0000-000000000005",
          LocalDate.of(2024, 3, 31),
          LocalDateTime.of(2024, 3, 31, 0, 0),
          LocalDateTime.of(2024, 3, 31, 2, 30),
          LocalDateTime.of(2024, 10, 27, 2, 30),
          OffsetDateTime.of(2024, 10, 27, 2, 30, 0, 0, ZoneOffset.ofHours(1)),
          OffsetDateTime.of(2024, 10, 27, 2, 10, 0, 0, ZoneOffset.ofHours(2)),
          LocalTime.of(2, 30),
          OffsetTime.of(2, 30, 0, 0, ZoneOffset.ofHours(-5)),
          Duration.ofHours(30),
          new UUID(0, 5),
          new byte[] {5},
          new Object[] {1, 5},
          new Object[] {"1", "x"},
          new Object[] {LocalDateTime.of(2024, 3, 31, 2, 30)},
          new Object[] {OffsetDateTime.of(2024, 3, 31, 2, 30, 0, 0, ZoneOffset.ofHours(1))});

  private static final List<String> CONDITIONS =
      List.of(
          "C = ?",
          "C IS NOT DISTINCT FROM ?",
          "C < ?",
          "C <= ?",
          "C > ?",
          "C >= ?",
          "C BETWEEN ? AND ?");

  /** A primary key of these is the number of the row, and arrays are refused as no number. */
  private static final Set<String> INTEGERS = Set.of("TINYINT", "INT", "BIGINT");

  private Connection connection;

  @BeforeEach
  void connect() throws SQLException {
    connection = DriverManager.getConnection("jdbc:h2:mem:");
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The rows, or the class of the error. */
  private String found(String table, String condition, Object value) {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT ID FROM " + table + " WHERE " + condition + " ORDER BY ID")) {
      for (int i = 1; i <= query.getParameterMetaData().getParameterCount(); i++) {
        query.setObject(i, value);
      }
      StringBuilder ids = new StringBuilder();
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          ids.append(rows.getInt(1)).append(' ');
        }
      }
      return ids.toString();
    } catch (SQLException e) {
      return e.getSQLState().substring(0, 2);
    }
  }

  private void insert(String table, int id, @Nullable Object value) throws SQLException {
    try (PreparedStatement insertion =
        connection.prepareStatement("INSERT INTO " + table + " VALUES (?, ?)")) {
      insertion.setInt(1, id);
      insertion.setObject(2, value);
      insertion.execute();
    }
  }

  private static String shown(Object value) {
    return value instanceof Object[] array
        ? Arrays.toString(array)
        : value.getClass().getSimpleName() + " " + value;
  }

  /** A search begins in a page of the tree where the last one ended. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE TABLE G(ID INT, K VARCHAR PRIMARY KEY)",
        "CREATE TABLE G(ID INT, K VARCHAR)"
      })
  void searchDoesNotDependOnEarlierOnes(String table) throws SQLException {
    execute(table);
    List<String> keys = List.of("1", "2", "3", "4", "5", "6", "7", "8", "w", "x", "y", "z");
    for (String key : keys) {
      insert("G", key.charAt(0), key);
    }
    Set<String> outcomes = new TreeSet<>();
    for (String key : keys) {
      assertEquals((int) key.charAt(0) + " ", found("G", "K = ?", key));
      outcomes.add(found("G", "K = ?", new BigDecimal("3")));
    }
    assertEquals(Set.of("22"), outcomes);
  }

  /** Which H2 would find by the index. */
  @ParameterizedTest
  @ValueSource(strings = {"INT", "BIGINT", "NUMERIC(12, 2)", "DOUBLE PRECISION"})
  void numberIsFoundByTheIndexOfNumbersOfAnotherType(String type) throws SQLException {
    execute("CREATE TABLE T(ID INT, C " + type + ")");
    execute("INSERT INTO T SELECT X, X FROM SYSTEM_RANGE(1, 1000)");
    execute("CREATE INDEX T_C ON T(C)");
    for (Object value : List.of(7, 7L, new BigDecimal("7.0"), 7f, 7d, "7")) {
      assertEquals("7 ", found("T", "C = ?", value));
      try (PreparedStatement explain =
          connection.prepareStatement("EXPLAIN ANALYZE SELECT ID FROM T WHERE C = ?")) {
        explain.setObject(1, value);
        try (ResultSet plan = explain.executeQuery()) {
          assertTrue(plan.next());
          assertTrue(plan.getString(1).contains("scanCount: 2 "), plan.getString(1));
        }
      }
    }
  }

  static List<String> types() {
    return List.of(
        "VARCHAR",
        "VARCHAR_IGNORECASE",
        "CHAR(8)",
        "BOOLEAN",
        "TINYINT",
        "INT",
        "BIGINT",
        "NUMERIC(12, 2)",
        "DECFLOAT",
        "REAL",
        "DOUBLE PRECISION",
        "DATE",
        "TIME",
        "TIME WITH TIME ZONE",
        "TIMESTAMP",
        "TIMESTAMP WITH TIME ZONE",
        "INTERVAL DAY TO SECOND",
        "UUID",
        "VARBINARY(40)",
        "ENUM('1', '05', 'x', 'true')",
        "JSON",
        "INT ARRAY",
        "VARCHAR ARRAY",
        "TIMESTAMP ARRAY");
  }

  @ParameterizedTest
  @MethodSource("types")
  void indexFindsWhatAScanFinds(String type) throws SQLException {
    execute("SET TIME ZONE 'Europe/Berlin'");
    execute("CREATE TABLE SCANNED(ID INT, C " + type + ")");
    execute("CREATE TABLE UP(ID INT, C " + type + ")");
    execute("CREATE INDEX UP_C ON UP(C)");
    execute("CREATE TABLE DOWN(ID INT, C " + type + ")");
    execute("CREATE INDEX DOWN_C ON DOWN(C DESC, ID)");
    execute("CREATE TABLE SCANNED_ONCE(ID INT, C " + type + ")");
    execute("CREATE TABLE KEYED(ID INT, C " + type + " PRIMARY KEY)");
    fill();
    List<String> wrong = new ArrayList<>();
    for (String condition : CONDITIONS) {
      for (Object value : VALUES) {
        String scanned = found("SCANNED", condition, value);
        Map<String, String> found = new LinkedHashMap<>();
        found.put("UP", scanned);
        found.put("DOWN", scanned);
        if (!(value instanceof Object[] && INTEGERS.contains(type))) {
          found.put("KEYED", found("SCANNED_ONCE", condition, value));
        }
        found.forEach(
            (table, expected) -> {
              String actual = found(table, condition, value);
              if (!actual.equals(expected)) {
                wrong.add(
                    "%s %s with %s: %s, scanned %s"
                        .formatted(table, condition, shown(value), actual, expected));
              }
            });
      }
    }
    assertEquals(List.of(), wrong);
  }

  /** With what converts to the type. */
  private void fill() throws SQLException {
    List<Object> rows = new ArrayList<>(VALUES);
    Collections.shuffle(rows, new Random(1));
    int id = 0;
    for (Object row : rows) {
      id++;
      try {
        insert("SCANNED", id, row);
      } catch (SQLException e) {
        assertTrue(e.getSQLState().startsWith("22"), e.toString());
        continue;
      }
      insert("UP", id, row);
      insert("DOWN", id, row);
      try {
        insert("KEYED", id, row);
      } catch (SQLException e) {
        assertEquals("23505", e.getSQLState());
        continue;
      }
      insert("SCANNED_ONCE", id, row);
    }
    assertTrue(id > 0);
    for (String table : List.of("SCANNED", "UP", "DOWN")) {
      insert(table, 0, null);
    }
  }
}
