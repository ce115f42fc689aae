package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertIterableEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.snapshot.Backup;
import dev.tollgate.transport.SnapshotDownload;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a dump says, another cluster has once it has been told. */
class SqlDumpTest {
  private static final List<String> DEFINITIONS =
      List.of(
          "CREATE SCHEMA \"a schema\"",
          "CREATE DOMAIN SHORT AS VARCHAR(20) DEFAULT 'none'",
          "CREATE DOMAIN SHORTER AS SHORT CHECK (CHAR_LENGTH(VALUE) < 10)",
          "CREATE SEQUENCE S START WITH 100 INCREMENT BY 5 MAXVALUE 1000 CYCLE NO CACHE",
          "CREATE SEQUENCE \"a schema\".\"other's\" AS INTEGER",
          "CREATE TABLE PARENT(ID BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
              + " NAME SHORTER NOT NULL, DOUBLED BIGINT GENERATED ALWAYS AS (ID * 2),"
              + " CONSTRAINT NAMES UNIQUE(NAME))",
          "CREATE TABLE \"a schema\".CHILD(ID INT PRIMARY KEY, PARENT_ID BIGINT"
              + " REFERENCES PUBLIC.PARENT(ID) ON DELETE CASCADE, \"Wei\u00dft \"\"du\"\"\" INT"
              + " DEFAULT 7 CHECK (\"Wei\u00dft \"\"du\"\"\" > 0), HIDDEN INT INVISIBLE)",
          "CREATE TABLE NO_KEY(A INT, AT TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE"
              + " CURRENT_TIMESTAMP)",
          "CREATE TABLE TYPES(B BOOLEAN, TI TINYINT, SI SMALLINT, I INT, L BIGINT, R REAL,"
              + " D DOUBLE PRECISION, N NUMERIC(30, 10), DF DECFLOAT(20), C CHAR(3), V VARCHAR,"
              + " IC VARCHAR_IGNORECASE, CL CLOB, BI BINARY(2), VB VARBINARY, BL BLOB, DA DATE,"
              + " T TIME(9), TZ TIME WITH TIME ZONE, TS TIMESTAMP(9), TTZ TIMESTAMP WITH TIME ZONE,"
              + " IY INTERVAL YEAR, IDS INTERVAL DAY TO SECOND, U UUID, E ENUM('x', 'y''z'), J JSON,"
              + " AI INT ARRAY, AV VARCHAR ARRAY[5], RO ROW(A INT, B VARCHAR))",
          "CREATE TABLE HALVES(K VARCHAR DEFAULT SUBSTRING('a\ud83d\ude00', 1, 2) || 'b',"
              + " C CHAR(2) DEFAULT CHAR(0), CHECK (K <> SUBSTRING('\ud83d\ude00', 2, 1)))",
          "CREATE INDEX BY_A ON NO_KEY(A DESC)",
          "CREATE VIEW W1 AS SELECT A FROM NO_KEY",
          "CREATE VIEW A_FIRST AS SELECT * FROM PUBLIC.W1 WHERE A > 1",
          "COMMENT ON TABLE PARENT IS 'those who''d have children'",
          "COMMENT ON COLUMN PARENT.NAME IS 'a name'",
          "COMMENT ON VIEW W1 IS 'a view'",
          "COMMENT ON SEQUENCE S IS 'numbers'");

  private static final List<String> ROWS =
      List.of(
          "INSERT INTO PARENT(NAME) VALUES('one'), ('two; --'), ('\u00fc\n\u4e2d''')",
          "DELETE FROM PARENT WHERE NAME = 'one'",
          "INSERT INTO \"a schema\".CHILD(ID, PARENT_ID, HIDDEN) VALUES(1, 2, 3), (2, NULL, NULL)",
          "INSERT INTO HALVES DEFAULT VALUES",
          "INSERT INTO NO_KEY(A) SELECT 5000 - X FROM SYSTEM_RANGE(1, 1700)",
          "INSERT INTO TYPES VALUES(TRUE, -128, -32768, -2147483648, -9223372036854775808,"
              + " 1.17549435E-38, 4.9E-324, -12345678901234567890.0123456789, 1E-30, 'a', '\\', 'Ab',"
              + " REPEAT('clob', 1000), X'0102', X'', X'00FF', DATE '-0001-02-28',"
              + " TIME '23:59:59.123456789', TIME '01:02:03+05:30',"
              + " TIMESTAMP '1999-12-31 23:59:59.999999999',"
              + " TIMESTAMP WITH TIME ZONE '2024-02-29 12:00:00.5-03:30', INTERVAL '-7' YEAR,"
              + " INTERVAL '1 02:03:04.5' DAY TO SECOND, UUID '12345678-1234-1234-1234-123456789abc',"
              + " 'y''z', JSON '{\"a\": [1, \"\u00e4\"]}', ARRAY[1, NULL], ARRAY['it''s', ''],"
              + " ROW(1, 'r'))",
          "INSERT INTO TYPES(R, D, DF) VALUES('NaN', '-Infinity', 'Infinity'), (-0.0, 0.1, 'NaN')",
          "INSERT INTO TYPES(V) VALUES(NULL), ('\u0000'), ('a\u0000\t\rb'), ('\ufeff'), ('\uffff')",
          "INSERT INTO TYPES(V, AV) SELECT SUBSTRING(E, I, 2), ARRAY[SUBSTRING(E, I, 1), '''']"
              + " FROM (VALUES('\ud83d\ude00\ud83e\udd14''')) T(E), SYSTEM_RANGE(1, 5) R(I)",
          "SELECT NEXT VALUE FOR S FROM SYSTEM_RANGE(1, 3)");

  private static final List<String> FENCES =
      List.of(
          "ALTER TABLE PARENT FENCED BY LOCK 'it''s mine'",
          "ALTER TABLE NO_KEY FENCED MONOTONIC BY LOCK 'later'",
          "ALTER TABLE \"a schema\".CHILD FENCED BY LOCK ('child-' || ID)");

  @TempDir Path directory;

  private static void run(Connection connection, List<String> statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        try {
          statement.execute(sql);
        } catch (SQLException e) {
          throw new SQLException(sql, e);
        }
      }
    }
  }

  private static void load(Connection connection, String dump) throws SQLException {
    List<String> refused = new ArrayList<>();
    try (Statement statement = connection.createStatement()) {
      for (String sql : dump.substring(0, dump.lastIndexOf(';')).split(";\n", -1)) {
        try {
          statement.execute(sql);
        } catch (SQLException e) {
          refused.add(e.getMessage());
        }
      }
    }
    assertEquals(List.of(), refused);
  }

  private String dump(String url) throws Exception {
    Path file = directory.resolve("snapshot");
    try (SnapshotDownload download = TollgateDriver.openSnapshot(url, true);
        OutputStream out = Files.newOutputStream(file)) {
      download.copyTo(out);
    }
    StringBuilder sql = new StringBuilder();
    SqlDump.write(Backup.check(file), sql);
    return sql.toString();
  }

  private String url(String node) {
    return "jdbc:tollgate:embedded:" + directory.resolve(node);
  }

  @Test
  void loadedIntoAnEmptyClusterItGivesTheSame() throws Exception {
    try (Connection first = DriverManager.getConnection(url("first"));
        Connection second = DriverManager.getConnection(url("second"))) {
      run(first, DEFINITIONS);
      run(first, ROWS);
      run(first, FENCES);
      String dump = dump(url("first"));
      load(second, dump);
      assertIterableEquals(contents(first), contents(second));
      assertEquals(dump, dump(url("second")), "a dump of what was loaded");
      assertTrue(
          dump.lines().filter(line -> line.startsWith("INSERT INTO \"PUBLIC\".\"NO_")).count() > 1,
          "many rows go into several statements");
      assertEquals("[3]", rows(second, "SELECT COUNT(*) FROM TOLLGATE.FENCES").toString());
    }
  }

  @Test
  void whatComesNextIsTheSameToo() throws Exception {
    try (Connection first = DriverManager.getConnection(url("first"));
        Connection second = DriverManager.getConnection(url("second"))) {
      run(first, DEFINITIONS);
      run(first, ROWS);
      load(second, dump(url("first")));
      for (String next :
          List.of(
              "SELECT NEXT VALUE FOR S",
              "SELECT NEXT VALUE FOR \"a schema\".\"other's\"",
              "SELECT ID FROM FINAL TABLE(INSERT INTO PARENT(NAME) VALUES('next'))",
              "SELECT HIDDEN, \"Wei\u00dft \"\"du\"\"\" FROM FINAL TABLE(INSERT INTO"
                  + " \"a schema\".CHILD(ID) VALUES(9))")) {
        assertEquals(rows(first, next), rows(second, next), next);
      }
      SQLException twice =
          assertThrows(
              SQLException.class,
              () -> run(second, List.of("INSERT INTO PARENT(NAME) VALUES('next')")));
      assertTrue(String.valueOf(twice.getCause()).contains("NAMES"), "" + twice.getCause());
    }
  }

  @Test
  void rowThatFitsIntoNoStatementIsNamed() throws Exception {
    try (Connection connection = DriverManager.getConnection(url("first"))) {
      run(
          connection,
          List.of(
              "CREATE TABLE LARGE(V VARCHAR)",
              "INSERT INTO LARGE VALUES(REPEAT('v', 1000000) || REPEAT('v', 100000))"));
      IOException refused = assertThrows(IOException.class, () -> dump(url("first")));
      assertTrue(refused.getMessage().contains("\"LARGE\" takes 11000"), refused.getMessage());
    }
  }

  private static List<String> contents(Connection connection) throws SQLException {
    List<String> all = new ArrayList<>();
    for (String query :
        List.of(
            "SELECT * FROM PARENT",
            "SELECT ID, PARENT_ID, HIDDEN, \"Wei\u00dft \"\"du\"\"\" FROM \"a schema\".CHILD",
            "SELECT * FROM NO_KEY",
            "SELECT * FROM TYPES",
            "SELECT * FROM HALVES",
            "SELECT * FROM A_FIRST",
            "SELECT * FROM TOLLGATE.FENCES ORDER BY 1, 2",
            "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, REMARKS FROM INFORMATION_SCHEMA.TABLES"
                + " WHERE TABLE_SCHEMA NOT IN ('INFORMATION_SCHEMA', 'TOLLGATE') ORDER BY 1, 2",
            "SELECT * FROM INFORMATION_SCHEMA.COLUMNS"
                + " WHERE TABLE_SCHEMA NOT IN ('INFORMATION_SCHEMA', 'TOLLGATE') ORDER BY 2, 3, 5",
            "SELECT * EXCEPT (INDEX_NAME) FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS ORDER BY 2, 3",
            "SELECT * FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS ORDER BY 2, 3",
            "SELECT * FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS ORDER BY 2, 3",
            "SELECT * EXCEPT (INDEX_NAME) FROM INFORMATION_SCHEMA.INDEX_COLUMNS ORDER BY 5, 6, 7, 8",
            "SELECT INDEX_SCHEMA, INDEX_NAME, TABLE_NAME FROM INFORMATION_SCHEMA.INDEXES"
                + " WHERE NOT IS_GENERATED ORDER BY 1, 2",
            "SELECT * FROM INFORMATION_SCHEMA.SEQUENCES ORDER BY 2, 3",
            "SELECT * FROM INFORMATION_SCHEMA.DOMAINS ORDER BY 2, 3",
            "SELECT * FROM INFORMATION_SCHEMA.VIEWS WHERE TABLE_SCHEMA = 'PUBLIC' ORDER BY 2, 3")) {
      List<String> rows = rows(connection, query);
      assertFalse(rows.isEmpty(), query);
      all.add(query);
      all.addAll(rows);
    }
    return all;
  }

  private static List<String> rows(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      List<String> rows = new ArrayList<>();
      int columns = result.getMetaData().getColumnCount();
      while (result.next()) {
        StringBuilder row = new StringBuilder();
        for (int i = 1; i <= columns; i++) {
          row.append(i > 1 ? " | " : "").append(result.getString(i));
        }
        rows.add(row.toString());
      }
      return rows;
    } catch (SQLException e) {
      throw new SQLException(sql, e);
    }
  }
}
