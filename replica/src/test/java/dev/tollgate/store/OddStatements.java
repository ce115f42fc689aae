package dev.tollgate.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Odd one-line writes and definitions. Functions, statements and types come from H2's own list (see
 * {@link OddGrammar}), names from a few for each kind, so that objects depend on each other and are
 * renamed, replaced and dropped while others need them.
 */
final class OddStatements {
  /**
   * A statement with the values of its parameters.
   *
   * @param sql the text, as a client sends it
   */
  record Odd(String sql, List<Value> parameters) {
    static Odd of(String sql) {
      return new Odd(sql, List.of());
    }

    @Override
    public String toString() {
      return parameters.isEmpty() ? sql + ";" : sql + "; -- with " + parameters;
    }
  }

  private static final int DEEPEST = 9;

  /** Rows with ties, NULL and one value at least of most types. */
  static final List<String> TABLES =
      List.of(
          "CREATE SCHEMA S0",
          "CREATE DOMAIN D0 AS VARCHAR(20)",
          "CREATE SEQUENCE Q0",
          "CREATE TABLE T0(ID INT PRIMARY KEY, A INT, B VARCHAR, C DECFLOAT, D DATE, E TIME WITH"
              + " TIME ZONE, F TIMESTAMP, G INTERVAL DAY TO SECOND, H INT ARRAY, I JSON, J"
              + " VARBINARY, K DOUBLE PRECISION, L NUMERIC(20, 3), M ENUM('x', 'y'), N BOOLEAN, O"
              + " VARCHAR_IGNORECASE, P D0)",
          "INSERT INTO T0 VALUES(1, 1, 'a', 1, DATE '2020-02-29', TIME WITH TIME ZONE"
              + " '10:00:00+00', TIMESTAMP '2020-02-29 12:00:00', INTERVAL '1 02:03:04' DAY TO"
              + " SECOND, ARRAY[1, 2], JSON '{\"a\":1}', X'00ff', 1.5, 1.5, 'x', TRUE, 'A', 'p')",
          "INSERT INTO T0(ID, A, B, C, K, O) VALUES(2, 1, 'b', 'Infinity', 'NaN', 'a'), (3, 1, 'a',"
              + " 'NaN', '-0.0', 'b'), (4, 2, NULL, NULL, NULL, NULL), (5, NULL, '', -1, 0, 'B')",
          "CREATE TABLE T1(ID INT PRIMARY KEY, A INT REFERENCES T0(ID) ON DELETE CASCADE, B"
              + " VARCHAR(20), C INT GENERATED ALWAYS AS (A + 1))",
          "INSERT INTO T1(ID, A, B) VALUES(1, 1, 'x'), (2, 1, 'x'), (3, 3, NULL)",
          "CREATE VIEW V0 AS SELECT ID, A, B FROM T0",
          "CREATE TABLE R(B VARCHAR, A BIGINT)",
          "CREATE TABLE T2(ID INT PRIMARY KEY, B VARCHAR(20)) FENCED BY LOCK ('o-' || ID)",
          "CREATE TABLE T3(ID INT PRIMARY KEY, B VARCHAR(20)) FENCED BY LOCK 'o-1'");

  /** A column of the first table for each kind of value. */
  private static final Map<String, String> COLUMNS =
      Map.ofEntries(
          Map.entry("int", "A"),
          Map.entry("long", "ID"),
          Map.entry("numeric", "L"),
          Map.entry("string", "B"),
          Map.entry("value", "O"),
          Map.entry("bytes", "J"),
          Map.entry("boolean", "N"),
          Map.entry("date", "D"),
          Map.entry("date_and_time", "F"),
          Map.entry("time_with_time_zone", "E"),
          Map.entry("timestamp", "F"),
          Map.entry("interval", "G"),
          Map.entry("array", "H"),
          Map.entry("json", "I"));

  /** The locks under which the tables of {@link #TABLES} can be written. */
  static final List<String> LOCKS = List.of("o-1", "o-2");

  private final Random random;
  private final OddValues values;
  private final OddGrammar grammar;

  /** Conditions on a value, with a place for a query where an expression has operands. */
  private static final List<String> WITH_A_QUERY =
      List.of(
          "VALUE IN (%s)",
          "COALESCE((%s), VALUE) IS NOT NULL",
          "CASE WHEN (%s) IS NULL THEN TRUE ELSE VALUE IS NOT NULL END",
          "ROW((%s), VALUE) IS NOT NULL",
          "ARRAY[(%s)] IS NOT NULL",
          "CONCAT_WS(',', (%s), VALUE) <> ''",
          "JSON_ARRAY((%s), VALUE) IS NOT NULL");

  private final List<String> functions = new ArrayList<>();
  private final List<String> aggregates = new ArrayList<>();
  private final List<String> windows = new ArrayList<>();
  private final List<String> definitions;
  private final List<String> changes;
  private final List<Value> parameters = new ArrayList<>();
  private int nextFunction;
  private int nextAggregate;
  private int nextWindow;

  OddStatements(Random random) {
    this.random = random;
    values = new OddValues(random);
    grammar = new OddGrammar(random, this::word);
    functions.addAll(grammar.topics("Functions"));
    functions.addAll(grammar.otherFunctions());
    aggregates.addAll(grammar.topics("Aggregate Functions"));
    windows.addAll(grammar.topics("Window Functions"));
    windows.addAll(aggregates);
    for (List<String> list : List.of(functions, aggregates, windows)) {
      Collections.shuffle(list, random);
    }
    definitions = grammar.topics("Commands (DDL)");
    changes = grammar.topics("Commands (DML)");
  }

  /** The functions, aggregates and window functions of H2's own list. */
  int functionCount() {
    return functions.size() + windows.size();
  }

  Odd next() {
    parameters.clear();
    String sql =
        switch (random.nextInt(20)) {
          case 0, 1, 2, 3 -> withFunction(scalar());
          case 4, 5, 6 -> withRows(aggregate());
          case 7, 8 -> withRows(window());
          case 9 -> withRows(frame());
          case 10 -> limited();
          case 11 -> tableFunction();
          case 12, 13 -> grammar.sentence(pick(changes));
          case 14, 15 -> definition(grammar.sentence(pick(definitions)));
          default -> dependency();
        };
    return new Odd(sql, List.copyOf(parameters));
  }

  private String definition(String sql) {
    // a definition has no parameters
    parameters.clear();
    return sql.replace("?", "NULL");
  }

  // words of the grammar

  private @Nullable String word(String word, int depth) {
    if (word.equals("?")) {
      return parameter();
    }
    if (word.endsWith("name")) {
      return name(word);
    }
    if (word.equals("@func@") || word.equals("function")) {
      return depth > DEEPEST ? literal("value") : scalar();
    }
    for (String kind :
        List.of(
            "timestamp_with_time_zone",
            "time_with_time_zone",
            "date_and_time",
            "timestamp",
            "interval",
            "geometry",
            "boolean",
            "numeric",
            "string",
            "array",
            "bytes",
            "value",
            "long",
            "date",
            "json",
            "uuid",
            "int")) {
      if (word.equals(kind) || word.endsWith("_" + kind)) {
        return word.equals("precision_int") || word.equals("length_int")
            ? Integer.toString(1 + random.nextInt(40))
            : operand(kind);
      }
    }
    if (word.endsWith("array_expression")) {
      return operand("array");
    }
    if (word.endsWith("expression")
        && !word.equals("select_expression")
        && !word.endsWith("table_expression")
        && !word.equals("row_value_expression")
        && !word.equals("wildcard_expression")
        && !word.equals("sequence_value_expression")) {
      return expression(depth);
    }
    if (depth > DEEPEST) {
      return switch (word) {
        case "condition", "and_condition" -> "A IS NULL";
        case "operand", "summand", "factor", "term" -> operand("value");
        case "query", "select" -> "SELECT A, B FROM T0";
        case "table_expression" -> name("table_name");
        default -> null;
      };
    }
    return switch (word) {
      case "window_name_or_specification" ->
          random.nextInt(3) == 0 ? grammar.sentence("window_specification") : "(" + ordered() + ")";
      case "condition" -> random.nextInt(3) == 0 ? null : condition();
      case "query" -> random.nextInt(3) == 0 ? null : query();
      case "data_type" -> random.nextInt(2) == 0 ? null : type();
      case "name" -> name("name");
      default -> null;
    };
  }

  private String name(String word) {
    if (word.equals("field_name")) {
      return "W0";
    }
    if (word.equals("existing_window_name")) {
      return "";
    }
    if (word.endsWith("column_name") || word.equals("name")) {
      return column();
    }
    if (word.endsWith("alias")) {
      return "X";
    }
    String kind =
        word.contains("schema")
            ? "S"
            : word.contains("domain")
                ? "D"
                : word.contains("view")
                    ? "V"
                    : word.contains("sequence")
                        ? "Q"
                        : word.contains("index")
                            ? "I"
                            : word.contains("constraint")
                                ? "C"
                                : word.contains("constant")
                                    ? "K"
                                    : word.contains("role") || word.contains("user") ? "U" : "T";
    return kind.equals("T") ? table() : kind + random.nextInt(3);
  }

  private String table() {
    return switch (random.nextInt(8)) {
      case 0 -> "V0";
      case 1 -> "V" + random.nextInt(3);
      case 2 -> "T" + random.nextInt(6);
      case 3 -> "T1";
      default -> "T0";
    };
  }

  private String column() {
    return random.nextInt(4) == 0
        ? pick(List.of("C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P"))
        : pick(List.of("ID", "A", "B"));
  }

  private String parameter() {
    parameters.add(values.parameter());
    return "?";
  }

  private String literal(String kind) {
    return values.literal(kind);
  }

  private String operand(String kind) {
    return switch (random.nextInt(8)) {
      case 0, 1 -> parameter();
      case 2 -> column();
      case 3, 4 -> COLUMNS.getOrDefault(kind, "B");
      default -> literal(kind);
    };
  }

  private String expression(int depth) {
    return switch (random.nextInt(depth > DEEPEST ? 3 : 6)) {
      case 0 -> column();
      case 1 -> literal("value");
      case 2 -> operand("value");
      case 3 -> scalar();
      case 4 -> grammar.sentence("operand");
      default ->
          "("
              + operand("value")
              + pick(List.of(" + ", " - ", " * ", " / ", " || ", " % "))
              + operand("value")
              + ")";
    };
  }

  private String condition() {
    return switch (random.nextInt(6)) {
      case 0 -> "A = " + operand("int");
      case 1 -> "B LIKE " + operand("string");
      case 2 -> operand("value") + " IN (SELECT " + column() + " FROM " + table() + ")";
      case 3 -> operand("value") + " > " + operand("value");
      case 4 -> "ID BETWEEN " + operand("int") + " AND " + operand("int");
      default -> scalar() + " IS NOT NULL";
    };
  }

  private String query() {
    return switch (random.nextInt(4)) {
      case 0 -> "SELECT " + column() + " FROM " + table();
      case 1 -> "SELECT " + scalar() + " FROM T0";
      case 2 -> "SELECT A, B FROM " + table() + " ORDER BY A FETCH FIRST 2 ROWS ONLY";
      default -> "VALUES (" + operand("value") + ", " + operand("value") + ")";
    };
  }

  private String type() {
    return switch (random.nextInt(12)) {
      case 0 -> "INT";
      case 1 -> "VARCHAR(" + (1 + random.nextInt(30)) + ")";
      case 2 -> "D" + random.nextInt(3);
      case 3 -> "DECFLOAT(" + (1 + random.nextInt(34)) + ")";
      case 4 -> "INTERVAL YEAR";
      case 5 -> "INTERVAL HOUR TO MINUTE";
      case 6 -> "TIME WITH TIME ZONE";
      case 7 -> "JSON";
      case 8 -> "INT ARRAY";
      default -> grammar.sentence("data_type");
    };
  }

  // functions

  private String scalar() {
    String topic = functions.get(nextFunction++ % functions.size());
    return named(topic);
  }

  private String named(String topic) {
    if (!topic.equals(topic.toUpperCase(Locale.ROOT)) || topic.startsWith("@")) {
      return grammar.sentence(topic);
    }
    StringBuilder call = new StringBuilder(topic).append('(');
    for (int i = random.nextInt(4); i > 0; i--) {
      call.append(operand("value")).append(i > 1 ? ", " : "");
    }
    return call.append(')').toString();
  }

  private String aggregate() {
    return named(aggregates.get(nextAggregate++ % aggregates.size()));
  }

  private String window() {
    String call = named(windows.get(nextWindow++ % windows.size()));
    return call.contains(" OVER ") ? call : call + " OVER (" + ordered() + ")";
  }

  private String ordered() {
    return (random.nextInt(3) == 0 ? "PARTITION BY " + column() + " " : "")
        + "ORDER BY "
        + column()
        + (random.nextInt(3) == 0 ? " DESC NULLS LAST" : "");
  }

  /** A window frame with odd bounds. */
  private String frame() {
    String units = pick(List.of("ROWS", "RANGE", "GROUPS"));
    String between =
        random.nextInt(4) == 0
            ? bound("PRECEDING")
            : "BETWEEN " + bound("PRECEDING") + " AND " + bound("FOLLOWING");
    return pick(
            List.of(
                "SUM(A)",
                "COUNT(*)",
                "ARRAY_AGG(B)",
                "FIRST_VALUE(B)",
                "NTH_VALUE(A, 2)",
                "MEDIAN(A)",
                "LISTAGG(B)"))
        + " OVER ("
        + ordered()
        + " "
        + units
        + " "
        + between
        + pick(List.of("", "", " EXCLUDE TIES", " EXCLUDE GROUP", " EXCLUDE CURRENT ROW"))
        + ")";
  }

  private String bound(String side) {
    return switch (random.nextInt(8)) {
      case 0 -> "UNBOUNDED " + side;
      case 1 -> "CURRENT ROW";
      case 2 -> literal("interval") + " " + side;
      case 3 -> parameter() + " " + side;
      case 4 -> column() + " " + side;
      case 5 -> literal("numeric") + " " + pick(List.of("PRECEDING", "FOLLOWING"));
      default -> literal("int") + " " + side;
    };
  }

  private String withFunction(String f) {
    return switch (random.nextInt(20)) {
      case 0, 1, 2 -> "INSERT INTO R(B) SELECT CAST(" + f + " AS VARCHAR) FROM T0";
      case 3 -> "INSERT INTO R(B) VALUES(" + f + ")";
      case 4, 5 -> "UPDATE T0 SET B = " + f + " WHERE ID < 4";
      case 6 -> "DELETE FROM T0 WHERE " + f + " IS NULL";
      case 7 -> "DELETE FROM T1 WHERE " + f + " = B";
      case 8 -> "MERGE INTO R(B, A) KEY(B) SELECT " + f + ", ID FROM T0";
      case 9 -> "INSERT INTO R(B) SELECT B FROM T0 ORDER BY " + f + " FETCH FIRST 2 ROWS ONLY";
      case 10 -> "INSERT INTO R(A) SELECT COUNT(*) FROM T0 GROUP BY " + f;
      case 11 -> "SELECT * FROM FINAL TABLE (UPDATE T1 SET B = " + f + ")";
      case 12 -> "UPDATE T0 SET A = (SELECT COUNT(*) FROM T1 WHERE T1.B = " + f + ")";
      default -> definition(definitionWith(f));
    };
  }

  private String definitionWith(String f) {
    String t = "T" + random.nextInt(6);
    return switch (random.nextInt(11)) {
      case 0 -> "CREATE TABLE " + t + "(ID INT PRIMARY KEY, B " + type() + " DEFAULT " + f + ")";
      case 1 -> "CREATE TABLE " + t + "(ID INT, B VARCHAR, CHECK (" + f + " IS NOT NULL))";
      case 2 -> "CREATE TABLE " + t + " AS SELECT " + f + " AS A FROM T0";
      case 3 ->
          "ALTER TABLE "
              + t
              + " ADD COLUMN X"
              + random.nextInt(3)
              + " "
              + type()
              + " GENERATED ALWAYS AS ("
              + f
              + ")";
      case 4 -> "ALTER TABLE " + t + " ALTER COLUMN " + column() + " SET DEFAULT " + f;
      case 5 ->
          "ALTER TABLE " + t + " ADD CONSTRAINT C" + random.nextInt(3) + " CHECK (" + f + " = B)";
      case 6 ->
          "CREATE OR REPLACE VIEW V"
              + random.nextInt(3)
              + " AS SELECT "
              + f
              + " AS A, ID, B FROM "
              + table();
      case 7 ->
          "CREATE DOMAIN D"
              + random.nextInt(3)
              + " AS VARCHAR DEFAULT "
              + f
              + " CHECK ("
              + f
              + " IS NULL OR VALUE <> '')";
      case 8 ->
          "ALTER TABLE "
              + t
              + " ALTER COLUMN "
              + column()
              + " SET DATA TYPE "
              + type()
              + " USING "
              + f;
      case 9 ->
          "CREATE TABLE "
              + t
              + "(ID INT PRIMARY KEY, A INT, B VARCHAR(20)) FENCED BY LOCK ("
              + f
              + ")";
      default -> "ALTER TABLE " + t + " ALTER COLUMN " + column() + " SET ON UPDATE " + f;
    };
  }

  private String withRows(String f) {
    return switch (random.nextInt(8)) {
      case 0, 1, 2 -> "INSERT INTO R(B) SELECT CAST(" + f + " AS VARCHAR) FROM T0";
      case 3 -> "INSERT INTO R(B) SELECT CAST(" + f + " AS VARCHAR) FROM T0 GROUP BY " + column();
      case 4 -> "UPDATE T1 SET B = (SELECT " + f + " FROM T0 WHERE T0.A = T1.A)";
      case 5 -> "DELETE FROM R WHERE B IN (SELECT " + f + " FROM T0)";
      case 6 -> "INSERT INTO R(A) SELECT ID FROM T0 QUALIFY " + f + " IS NOT NULL";
      default ->
          definition(
              "CREATE OR REPLACE VIEW V" + random.nextInt(3) + " AS SELECT " + f + " AS A FROM T0");
    };
  }

  private String limited() {
    String query = "SELECT ID FROM T0 ORDER BY " + column() + " ";
    String limit =
        switch (random.nextInt(5)) {
          case 0 -> "LIMIT " + operand("long");
          case 1 -> "OFFSET " + operand("long") + " ROWS";
          case 2 -> "FETCH FIRST " + operand("numeric") + " PERCENT ROWS ONLY";
          case 3 -> "FETCH FIRST " + operand("int") + " ROWS WITH TIES";
          default -> "OFFSET 1 ROWS FETCH NEXT " + operand("int") + " ROWS ONLY";
        };
    return switch (random.nextInt(4)) {
      case 0 -> "DELETE FROM T1 WHERE ID IN (" + query + limit + ")";
      case 1 -> "SELECT ID, TRY_ACQUIRE_LOCK('l-' || ID) FROM (" + query + limit + ")";
      case 2 ->
          "DELETE FROM T1 WHERE " + condition() + " FETCH FIRST " + operand("int") + " ROWS ONLY";
      default -> "INSERT INTO R(A) " + query + limit;
    };
  }

  private String tableFunction() {
    String from =
        switch (random.nextInt(5)) {
          case 0 -> "SYSTEM_RANGE(" + operand("long") + ", " + operand("int") + ")";
          case 1 -> "SYSTEM_RANGE(1, " + operand("int") + ", " + operand("long") + ")";
          case 2 ->
              "UNNEST("
                  + operand("array")
                  + ", "
                  + operand("array")
                  + ")"
                  + pick(List.of("", " WITH ORDINALITY"));
          case 3 ->
              pick(List.of("TABLE", "TABLE_DISTINCT"))
                  + "(X "
                  + type()
                  + " = "
                  + operand("array")
                  + ")";
          default -> grammar.sentence("data_change_delta_table");
        };
    return "INSERT INTO R(A) SELECT COUNT(*) FROM " + from + " Y";
  }

  // objects that need each other

  private String dependency() {
    String t = "T" + random.nextInt(6);
    String v = "V" + random.nextInt(3);
    String d = "D" + random.nextInt(3);
    String q = "Q" + random.nextInt(3);
    String other = table();
    String column = pick(List.of("ID", "A", "B"));
    String cascade = pick(List.of("", "", " CASCADE", " RESTRICT"));
    return switch (random.nextInt(48)) {
      case 0 -> "CREATE TABLE " + t + "(ID INT PRIMARY KEY, A INT, B VARCHAR(20))";
      case 1 -> "CREATE TABLE " + t + "(ID INT PRIMARY KEY, A INT, B " + d + ")";
      case 2 ->
          "CREATE TABLE "
              + t
              + "(ID INT PRIMARY KEY, A INT DEFAULT (SELECT MAX(ID) FROM "
              + other
              + "), B VARCHAR(20))";
      case 3 ->
          "CREATE TABLE "
              + t
              + "(ID INT PRIMARY KEY, A INT DEFAULT NEXT VALUE FOR "
              + q
              + ", B VARCHAR(20))";
      case 4 ->
          "CREATE TABLE "
              + t
              + "(ID INT PRIMARY KEY, A INT REFERENCES T"
              + random.nextInt(6)
              + "(ID) ON DELETE "
              + pick(List.of("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT"))
              + " ON UPDATE CASCADE, B VARCHAR(20))";
      case 5 ->
          "CREATE TABLE "
              + t
              + "(ID INT PRIMARY KEY, A INT, B VARCHAR(20), CHECK (A IN"
              + " (SELECT ID FROM "
              + other
              + ")))";
      case 6 ->
          "CREATE TABLE "
              + t
              + "(ID INT PRIMARY KEY, A INT, B VARCHAR(20), CHECK (CAST(B AS "
              + d
              + ") IS NOT NULL))";
      case 7 ->
          "CREATE TABLE "
              + t
              + "(ID INT PRIMARY KEY, A INT, B VARCHAR(20) GENERATED ALWAYS"
              + " AS (CAST(A AS "
              + d
              + ")))";
      case 8 ->
          "CREATE TABLE "
              + t
              + "(ID INT PRIMARY KEY, A INT, B VARCHAR(20)) FENCED BY LOCK"
              + " ('o-' || CAST(ID AS PUBLIC."
              + d
              + "))";
      case 9 -> "CREATE TABLE " + t + " AS SELECT ID, A, B FROM " + other;
      case 10, 11 -> "CREATE OR REPLACE VIEW " + v + " AS SELECT ID, A, B FROM " + other;
      case 12 -> "CREATE OR REPLACE VIEW " + v + " AS SELECT " + column + " FROM " + other;
      case 13 -> "CREATE OR REPLACE VIEW " + v + " AS SELECT * FROM " + other;
      case 14 ->
          "CREATE OR REPLACE VIEW "
              + v
              + "(ID, A, B) AS SELECT ID, A, B FROM "
              + t
              + " WHERE ID IN (SELECT ID FROM "
              + other
              + ")";
      case 15 -> "CREATE FORCE VIEW " + v + " AS SELECT ID, A, B FROM " + other;
      case 16 ->
          "CREATE DOMAIN "
              + d
              + " AS "
              + pick(List.of("VARCHAR(20)", "INT"))
              + " CHECK ("
              + pick(WITH_A_QUERY)
                  .formatted(
                      pick(
                              List.of(
                                  "SELECT B FROM ",
                                  "SELECT MAX(B) FROM ",
                                  "SELECT MAX(VALUE) FROM "))
                          + pick(List.of(other, "DUAL")))
              + ")";
      case 17 -> "CREATE DOMAIN " + d + " AS D" + random.nextInt(3) + " CHECK (VALUE <> 'q')";
      case 18 ->
          "CREATE DOMAIN " + d + " AS VARCHAR(20) DEFAULT (SELECT MAX(B) FROM " + other + ")";
      case 19 ->
          "CREATE SEQUENCE "
              + q
              + " START WITH "
              + literal("long")
              + " INCREMENT BY "
              + literal("int")
              + pick(List.of("", " CYCLE", " NO CACHE", " MAXVALUE 3"));
      case 20 ->
          "CREATE "
              + pick(List.of("", "UNIQUE ", "UNIQUE NULLS NOT DISTINCT "))
              + "INDEX I"
              + random.nextInt(3)
              + " ON "
              + t
              + "("
              + column
              + " DESC, ID)";
      case 21 -> "CREATE CONSTANT K" + random.nextInt(2) + " VALUE " + literal("value");
      case 22 -> "CREATE SCHEMA S" + random.nextInt(2);
      case 23 ->
          "CREATE TABLE S"
              + random.nextInt(2)
              + "."
              + t
              + "(ID INT PRIMARY KEY, A INT REFERENCES PUBLIC.T"
              + random.nextInt(6)
              + "(ID), B PUBLIC."
              + d
              + ")";
      case 24 ->
          "CREATE VIEW S"
              + random.nextInt(2)
              + "."
              + v
              + " AS SELECT ID, A, B FROM PUBLIC."
              + other;
      case 25, 26 -> "ALTER TABLE " + t + " ADD COLUMN X" + random.nextInt(3) + " INT";
      case 27 -> "ALTER TABLE " + t + " DROP COLUMN " + pick(List.of("A", "B", "X0", "X1"));
      case 28 -> "ALTER TABLE " + t + " RENAME TO T" + random.nextInt(6);
      case 29 ->
          "ALTER TABLE "
              + t
              + " ALTER COLUMN "
              + column
              + " RENAME TO "
              + pick(List.of("A", "B", "X0"));
      case 30 ->
          "ALTER TABLE "
              + t
              + " ALTER COLUMN "
              + column
              + " SET DEFAULT (SELECT MAX("
              + column
              + ") FROM "
              + other
              + ")";
      case 31 ->
          "ALTER TABLE "
              + t
              + " ALTER COLUMN "
              + column
              + " SET DATA TYPE "
              + pick(List.of("BIGINT", "VARCHAR(5)", d, "DECFLOAT"));
      case 32 ->
          "ALTER TABLE "
              + t
              + " ADD CONSTRAINT C"
              + random.nextInt(3)
              + " "
              + pick(
                  List.of(
                      "UNIQUE(A)",
                      "UNIQUE(A, B)",
                      "CHECK (A > (SELECT MIN(A) FROM " + other + "))",
                      "FOREIGN KEY(A) REFERENCES T" + random.nextInt(6) + "(ID) ON DELETE CASCADE",
                      "CHECK (CAST(A AS " + d + ") <> 'z')"));
      case 33 -> "ALTER TABLE " + t + " DROP CONSTRAINT C" + random.nextInt(3) + cascade;
      case 34 ->
          "ALTER TABLE " + t + " " + pick(List.of("DROP PRIMARY KEY", "ADD PRIMARY KEY(ID)"));
      case 35 -> "ALTER DOMAIN " + d + " RENAME TO D" + random.nextInt(3);
      case 36 ->
          "ALTER DOMAIN "
              + d
              + " "
              + pick(
                  List.of(
                      "SET DEFAULT (SELECT MAX(B) FROM " + other + ")",
                      "DROP DEFAULT",
                      "ADD CONSTRAINT C" + random.nextInt(3) + " CHECK (VALUE <> 'w')",
                      "DROP CONSTRAINT C" + random.nextInt(3)));
      case 37 -> "ALTER SCHEMA S" + random.nextInt(2) + " RENAME TO S" + random.nextInt(2);
      case 38 ->
          "ALTER VIEW " + v + " " + pick(List.of("RECOMPILE", "RENAME TO V" + random.nextInt(3)));
      case 39 -> "DROP DOMAIN " + d + cascade;
      case 40 -> "DROP TABLE " + t + cascade;
      case 41 -> "DROP VIEW " + v + cascade;
      case 42 -> "DROP SEQUENCE " + q;
      case 43 -> "DROP SCHEMA S" + random.nextInt(2) + cascade;
      case 44 ->
          pick(
              List.of(
                  "DROP INDEX I" + random.nextInt(3),
                  "DROP CONSTANT K" + random.nextInt(2),
                  "TRUNCATE TABLE " + t + pick(List.of("", " RESTART IDENTITY"))));
      case 45 ->
          "ALTER TABLE "
              + t
              + pick(
                  List.of(
                      " FENCED BY LOCK 'o-1'",
                      " FENCED BY LOCK ('o-' || ID)",
                      " NOT FENCED",
                      " FENCED BY LOCK (CAST(B AS " + d + "))"));
      case 46 ->
          "INSERT INTO "
              + other
              + "(ID, A, B) VALUES("
              + (1 + random.nextInt(9))
              + ", "
              + literal("int")
              + ", "
              + literal("string")
              + ")";
      default ->
          pick(
              List.of(
                  "UPDATE " + other + " SET A = A + 1",
                  "DELETE FROM " + other + " WHERE ID > 3",
                  "UPDATE " + other + " SET ID = ID + 1 WHERE ID = 3"));
    };
  }

  private <T> T pick(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }
}
