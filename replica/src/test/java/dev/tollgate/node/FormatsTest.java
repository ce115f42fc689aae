package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertIterableEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files that were written by each version of the formats on disk are read for ever. When a format
 * gets a new version, write files of the old one first, with the old code: {@code mvn -f
 * replica/pom.xml test -Dtest=FormatsTest -Dtollgate.formats.write=true}, and then add theirs.
 */
class FormatsTest {
  private static final Path KEPT = Path.of("src", "test", "resources", "formats", "1");
  private static final String EXPECTED = "expected.txt";

  /** Everything that the files have, and that is the same whenever they are read. */
  private static final List<String> CONTENT =
      List.of(
          "SELECT ID, NAME, YEARS, U, AT, RAWTOHEX(PHOTO), TAGS, COST FROM PEOPLE",
          "SELECT * FROM APP.JOBS",
          "SELECT * FROM ORDERS",
          "SELECT * FROM ADULTS",
          "SELECT LOCK_NAME, LOCK_MODE, TOKEN, LEASE_ID, OWNER, HELD_SINCE FROM TOLLGATE.LOCKS"
              + " ORDER BY 1, 3",
          "SELECT LEASE_ID, OWNER, TTL_MS, CREATED_AT, LOCKS_HELD FROM TOLLGATE.LEASES"
              + " WHERE NOT CONNECTION_OWN ORDER BY 1",
          "SELECT * FROM TOLLGATE.FENCES ORDER BY 1, 2",
          "SELECT SEQUENCE_NAME, BASE_VALUE FROM INFORMATION_SCHEMA.SEQUENCES ORDER BY 1",
          "SELECT INDEX_NAME, TABLE_NAME FROM INFORMATION_SCHEMA.INDEXES ORDER BY 1, 2");

  @TempDir Path directory;

  @Test
  void nodeStartsFromFilesOfVersion1AndHasExactlyWhatTheySay() throws Exception {
    copy(KEPT, directory);
    try (Connection connection = DriverManager.getConnection(url())) {
      assertTrue(Files.exists(snapshot()), "it was used, and not set aside");
      assertIterableEquals(Files.readAllLines(KEPT.resolve(EXPECTED)), content(connection));
      assertEquals("[3]", rows(connection, "SELECT lock_token('nightly')").toString());
      assertEquals("[6]", rows(connection, "SELECT acquire_lock('next')").toString());
      assertEquals("[4]", rows(connection, "SELECT COUNT(*) FROM PEOPLE").toString());
      try (Statement statement = connection.createStatement()) {
        SQLException refused =
            assertThrows(
                SQLException.class, () -> statement.execute("UPDATE APP.JOBS SET STATE = 'x'"));
        assertEquals("23T02", refused.getSQLState());
        assertEquals(
            1,
            statement.executeUpdate(
                "UPDATE APP.JOBS SET STATE = 'x' WHERE ID = 1 FENCED BY LOCK 'nightly' TOKEN 3"));
      }
    }
  }

  @Test
  void logOfVersion1AloneGivesTheSame() throws Exception {
    copy(KEPT, directory);
    Files.delete(snapshot());
    try (Connection connection = DriverManager.getConnection(url())) {
      assertIterableEquals(Files.readAllLines(KEPT.resolve(EXPECTED)), content(connection));
    }
  }

  @Test
  void nodeDoesNotStartFromASnapshotOfAVersionThatItDoesNotKnow() throws Exception {
    copy(KEPT, directory);
    Path snapshot = snapshot();
    byte[] bytes = Files.readAllBytes(snapshot);
    bytes[5] = 2;
    Files.write(snapshot, bytes);
    SQLException refused =
        assertThrows(SQLException.class, () -> DriverManager.getConnection(url()));
    assertTrue(
        refused.getMessage().contains("version 2")
            && refused.getMessage().contains("reads version 1"),
        refused.getMessage());
    assertTrue(Files.exists(snapshot), "it is for the version that wrote it, and no damage");
  }

  /** One kind is the core's, the other the database's. */
  @ParameterizedTest
  @ValueSource(bytes = {10, 127})
  void nodeDoesNotStartFromASnapshotWithARecordThatItDoesNotKnow(byte kind) throws Exception {
    copy(KEPT, directory);
    Path snapshot = snapshot();
    byte[] whole = Files.readAllBytes(snapshot);
    ByteBuffer later = ByteBuffer.allocate(whole.length + 5);
    later.put(whole, 0, whole.length - 33).put(kind).putInt(0).put((byte) 0);
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    digest.update(later.array(), 0, later.position());
    Files.write(snapshot, later.put(digest.digest()).array());
    SQLException refused =
        assertThrows(SQLException.class, () -> DriverManager.getConnection(url()));
    assertTrue(
        refused
            .getMessage()
            .contains(
                "the snapshot has a record of kind "
                    + kind
                    + ", which this program does not know: run the version of Tollgate that wrote"
                    + " it, or a later one"),
        refused.getMessage());
    assertTrue(Files.exists(snapshot), "it is for the version that wrote it, and no damage");
  }

  /** Writes the files anew, with the code as it is. */
  @Test
  @EnabledIfSystemProperty(named = "tollgate.formats.write", matches = "true")
  void write() throws Exception {
    try (Connection connection = DriverManager.getConnection(url())) {
      writeSnapshot(connection);
      writeLog(connection);
      Files.createDirectories(KEPT);
      Files.write(KEPT.resolve(EXPECTED), content(connection));
    }
    copy(directory, KEPT);
    // what closing wrote would leave nothing to read from the log
    try (Stream<Path> kept = Files.walk(KEPT)) {
      for (Path last : kept.filter(file -> file.toString().contains("snapshot.1_39")).toList()) {
        Files.delete(last);
      }
    }
  }

  private static void writeSnapshot(Connection connection) throws SQLException {
    run(
        connection,
        "CREATE SCHEMA APP",
        "CREATE DOMAIN AGE AS INT CHECK (VALUE >= 0)",
        "CREATE TABLE PEOPLE(ID BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,"
            + " NAME VARCHAR(20) UNIQUE, YEARS AGE, U UUID DEFAULT RANDOM_UUID(),"
            + " AT TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP, PHOTO BLOB, TAGS VARCHAR"
            + " ARRAY, COST NUMERIC(20, 4))",
        "INSERT INTO PEOPLE(NAME, YEARS, PHOTO, TAGS, COST) VALUES('Ada', 36, X'00FF',"
            + " ARRAY['a', NULL], 12.5), ('Bob', 17, NULL, NULL, -0.0001)",
        "CREATE VIEW ADULTS AS SELECT NAME FROM PEOPLE WHERE YEARS > 17",
        "CREATE SEQUENCE NUMBERS INCREMENT BY 3",
        "SELECT NEXT VALUE FOR NUMBERS",
        "CREATE TABLE APP.JOBS(ID INT PRIMARY KEY, STATE VARCHAR) FENCED BY LOCK 'nightly'",
        "SELECT create_lease(INTERVAL '20' HOUR, 'first')",
        "SELECT create_lease(INTERVAL '10' HOUR, 'second')",
        "SELECT acquire_shared_lock('reading', 1)",
        "SELECT acquire_shared_lock('reading', 2)",
        "SELECT acquire_lock('nightly', 1)",
        "INSERT INTO APP.JOBS VALUES(1, 'done') FENCED BY LOCK 'nightly' TOKEN 3",
        "CALL take_snapshot()");
  }

  /** What comes after the snapshot is in the log alone. */
  private static void writeLog(Connection connection) throws SQLException {
    run(
        connection,
        "SELECT NEXT VALUE FOR NUMBERS",
        "CREATE TABLE ORDERS(ID INT, LINE INT, PRIMARY KEY(ID, LINE)) FENCED BY LOCK ('order-' || ID)",
        "SELECT acquire_lock('order-7', 2)",
        "SET FENCING TOKEN 4 FOR LOCK 'order-7'",
        "INSERT INTO ORDERS VALUES(7, 1), (7, 2)",
        "SET SCHEMA APP",
        "INSERT INTO JOBS VALUES(2, 'open') FENCED BY LOCK 'nightly' TOKEN 3",
        "SET SCHEMA PUBLIC",
        "SELECT create_lease(INTERVAL '1' HOUR, 'third')",
        "SELECT acquire_lock('brief', 3)",
        "SELECT release_lock('brief', 3)",
        "SELECT revoke_lease(3)");
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO PEOPLE(NAME, YEARS) VALUES(?, ?)")) {
      connection.setAutoCommit(false);
      insert.setString(1, "Cleo");
      insert.setInt(2, 30);
      insert.addBatch();
      insert.setString(1, "Dan");
      insert.setInt(2, 5);
      insert.addBatch();
      insert.executeBatch();
      Savepoint savepoint = connection.setSavepoint();
      run(connection, "DELETE FROM PEOPLE");
      connection.rollback(savepoint);
      connection.commit();
      run(connection, "UPDATE PEOPLE SET YEARS = 99");
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  private Path snapshot() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(file -> file.getFileName().toString().matches("snapshot\\.\\d+_\\d+"))
          .findFirst()
          .orElseThrow();
    }
  }

  private String url() {
    return "jdbc:tollgate:embedded:" + directory;
  }

  private static void run(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  private static List<String> content(Connection connection) throws SQLException {
    List<String> lines = new ArrayList<>();
    for (String query : CONTENT) {
      lines.add(query);
      lines.addAll(rows(connection, query));
    }
    return lines;
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
    }
  }

  /** Without the room that Ratis reserves at the end of the log. */
  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path file : all.toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        String name = file.getFileName().toString();
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else if (!name.equals(EXPECTED) && !name.equals("in_use.lock")) {
          byte[] bytes = Files.readAllBytes(file);
          int length = bytes.length;
          while (name.startsWith("log_") && length > 0 && bytes[length - 1] == 0) {
            length--;
          }
          Files.write(target, Arrays.copyOf(bytes, length));
        }
      }
    }
  }
}
