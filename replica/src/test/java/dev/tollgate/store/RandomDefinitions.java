package dev.tollgate.store;

import java.util.List;
import java.util.Random;

/**
 * Definitions in which everything may depend on everything: views on views, expressions that read
 * tables, views, domains and sequences of any age, and then changes to what they read.
 */
final class RandomDefinitions {
  /** What a database begins with, so that most definitions find what they name. */
  static final List<String> FIRST =
      List.of(
          "CREATE SCHEMA S",
          "CREATE DOMAIN D0 AS INT",
          "CREATE DOMAIN D1 AS D0 DEFAULT 3",
          "CREATE DOMAIN D2 AS BIGINT CHECK (VALUE > -100)",
          "CREATE DOMAIN S.D0 AS INT",
          "CREATE SEQUENCE Q0",
          "CREATE SEQUENCE Q1",
          "CREATE TABLE T0(ID INT PRIMARY KEY, A INT, B INT, C BIGINT)",
          "CREATE TABLE T1(ID INT, A D0, B D1 DEFAULT 4, C BIGINT)",
          "CREATE TABLE T2(ID INT, A INT, B INT CHECK (B > 0), C BIGINT)",
          "CREATE TABLE S.T0(ID INT, A INT, B D2, C BIGINT)",
          "CREATE VIEW V0 AS SELECT ID, A, B, C FROM T0");

  private static final List<String> SCHEMAS =
      List.of("PUBLIC", "PUBLIC", "PUBLIC", "PUBLIC", "PUBLIC", "PUBLIC", "PUBLIC", "S");

  private final Random random;

  RandomDefinitions(Random random) {
    this.random = random;
  }

  private String any(String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  private String name(String kind, int count) {
    return SCHEMAS.get(random.nextInt(SCHEMAS.size())) + "." + kind + random.nextInt(count);
  }

  private String table() {
    return name("T", 4);
  }

  private String view() {
    return name("V", 4);
  }

  private String domain() {
    return name("D", 3);
  }

  private String sequence() {
    return name("Q", 2);
  }

  private String column() {
    return any("ID", "A", "B", "C");
  }

  private String source() {
    return random.nextBoolean() ? table() : view();
  }

  private String type() {
    return any("INT", "BIGINT", domain(), "NUMERIC(10, 2)");
  }

  /** An expression that needs no row. */
  private String value() {
    return switch (random.nextInt(9)) {
      case 0 -> "7";
      case 1 -> "RAND() * 5";
      case 2 -> "CAST(RAND() AS " + domain() + ")";
      case 3 -> "NEXT VALUE FOR " + sequence();
      case 4 -> "CAST(3 AS " + domain() + ")";
      // no join: H2 writes its tables in the order of a plan, which depends on the rows
      case 5 -> "(SELECT COUNT(*) FROM " + source() + " X WHERE ID > 0)";
      case 6 -> "CASE WHEN EXISTS (TABLE " + source() + ") THEN 1 ELSE 2 END";
      default -> "(SELECT MAX(" + column() + ") FROM " + source() + ")";
    };
  }

  private String condition(String of) {
    return switch (random.nextInt(6)) {
      case 0 -> of + " > -5";
      case 1 -> "CAST(" + of + " AS " + domain() + ") IS NOT NULL";
      case 2 -> of + " NOT IN (SELECT " + column() + " FROM " + source() + ")";
      case 3 -> of + " <> 'x''\"PUBLIC\".\"T0\"' || " + of;
      case 4 -> of + " + 0 < 1000000";
      default -> "NOT EXISTS (SELECT 1 FROM " + source() + " Z WHERE Z.ID = -1)";
    };
  }

  private String columnDefinition(String name) {
    String start = name + " " + type();
    return switch (random.nextInt(8)) {
      case 0, 1 -> start + " DEFAULT " + value();
      case 2 -> start + " ON UPDATE " + value();
      case 3 -> start + " CHECK (" + condition(name) + ")";
      case 4 -> start + " COMMENT 'of " + name + "'";
      default -> start;
    };
  }

  private String query() {
    return switch (random.nextInt(7)) {
      case 0 -> "SELECT * FROM " + source();
      case 1 -> "SELECT ID, A FROM " + source() + " WHERE ID IN (SELECT ID FROM " + source() + ")";
      case 2 -> "SELECT X.ID, Y.B FROM " + source() + " X JOIN " + source() + " Y ON X.ID = Y.ID";
      case 3 -> "SELECT CAST(A AS " + domain() + ") AS A, ID FROM " + source();
      case 4 -> "SELECT ID FROM " + source() + " UNION SELECT B FROM " + source();
      case 5 -> "SELECT (SELECT MAX(ID) FROM " + source() + ") AS ID, 1 AS A, 2 AS B, 3 AS C";
      default -> "SELECT ID, A, B, C FROM " + source();
    };
  }

  String next() {
    return switch (random.nextInt(21)) {
      case 0, 1, 2 -> createTable();
      case 3 -> "CREATE VIEW " + view() + " AS " + query();
      case 4 ->
          "CREATE "
              + any("", "OR REPLACE ", "OR REPLACE FORCE ", "FORCE ")
              + "VIEW "
              + view()
              + any("", "(ID, A)")
              + " AS "
              + query();
      case 5 -> createDomain();
      case 6, 7, 8, 9 -> alterTable();
      case 10 -> alterDomain();
      case 11 -> any("CREATE SCHEMA S", "CREATE SEQUENCE " + sequence());
      case 12 ->
          "CREATE "
              + any("", "UNIQUE ")
              + "INDEX IF NOT EXISTS I"
              + random.nextInt(3)
              + " ON "
              + table()
              + "("
              + column()
              + ")";
      case 13 -> drop();
      case 14 -> sequenceThatMoves();
      case 15 -> any("COMMENT ON TABLE " + table(), "COMMENT ON DOMAIN " + domain()) + " IS 'c'";
      default -> insert();
    };
  }

  private String createTable() {
    return "CREATE TABLE "
        + table()
        + "(ID "
        + any("INT", "INT PRIMARY KEY", "BIGINT GENERATED BY DEFAULT AS IDENTITY")
        + ", "
        + columnDefinition("A")
        + ", "
        + columnDefinition("B")
        + ", C BIGINT"
        + any("", " GENERATED ALWAYS AS (ID + CAST(ID AS " + domain() + "))")
        + any("", ", CHECK (" + condition("ID") + ")")
        + ")";
  }

  private String createDomain() {
    return "CREATE DOMAIN "
        + domain()
        + " AS "
        + any("INT", "BIGINT", domain())
        + any("", " DEFAULT " + value())
        + any("", " CHECK (" + condition("VALUE") + ")");
  }

  private String alterTable() {
    String alter = "ALTER TABLE " + table() + " ";
    return switch (random.nextInt(12)) {
      case 0, 1 -> alter + "ADD COLUMN " + columnDefinition("E" + random.nextInt(3));
      case 2 -> alter + "DROP COLUMN " + any(column(), "E" + random.nextInt(3));
      case 3 -> alter + "RENAME TO T" + random.nextInt(4);
      case 4 -> alter + "ALTER COLUMN " + column() + " RENAME TO " + column();
      case 5 -> alter + "ALTER COLUMN " + column() + " SET DATA TYPE " + type();
      case 6, 7, 8 -> alter + "ALTER COLUMN " + column() + " SET DEFAULT " + value();
      case 9 -> alter + "ALTER COLUMN " + column() + any(" DROP DEFAULT", " SET ON UPDATE 1");
      case 10 ->
          alter + "ADD CONSTRAINT C" + random.nextInt(4) + " CHECK (" + condition(column()) + ")";
      default -> alter + "DROP CONSTRAINT IF EXISTS C" + random.nextInt(4);
    };
  }

  private String alterDomain() {
    String alter = "ALTER DOMAIN " + domain() + " ";
    return switch (random.nextInt(5)) {
      case 0 -> alter + "RENAME TO D" + random.nextInt(3);
      case 1 -> alter + "ADD CHECK (" + condition("VALUE") + ")";
      default -> alter + "SET DEFAULT " + value();
    };
  }

  private String drop() {
    String how = any("", " CASCADE");
    return switch (random.nextInt(8)) {
      case 0, 1 -> "DROP TABLE " + table() + how;
      case 2 -> "DROP VIEW " + view() + how;
      case 3, 4 -> "DROP DOMAIN " + domain() + how;
      case 5 -> "DROP SEQUENCE " + sequence();
      case 6 -> "DROP INDEX IF EXISTS I" + random.nextInt(3);
      default ->
          any("DROP SCHEMA S CASCADE", "ALTER SCHEMA S RENAME TO S2", "DROP SCHEMA S2 CASCADE");
    };
  }

  private String sequenceThatMoves() {
    String alter = "ALTER SEQUENCE " + sequence();
    return switch (random.nextInt(3)) {
      case 0 -> alter + any(" RESTART", " RESTART WITH 2") + any("", " INCREMENT BY -1");
      case 1 ->
          alter
              + any("", " INCREMENT BY " + any("1", "-1", "3"))
              + any("", " MINVALUE " + any("-2", "1"))
              + any("", " MAXVALUE " + any("2", "5"))
              + any("", " CYCLE", " NO CYCLE")
              + any("", " CACHE 2", " NO CACHE");
      default -> alter + any(" CYCLE", " INCREMENT BY -1");
    };
  }

  private String insert() {
    String id = any(String.valueOf(random.nextInt(50)), "NEXT VALUE FOR " + sequence());
    return "INSERT INTO " + table() + "(ID) VALUES(" + id + ")";
  }
}
