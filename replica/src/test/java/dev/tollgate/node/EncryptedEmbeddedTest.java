package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A node in an application that encrypts its directory, and all that it writes anywhere. */
@Timeout(300)
class EncryptedEmbeddedTest {
  private static final int ROWS = 4_000;
  private static final String MARKER = "marker-4720";

  @TempDir Path directory;

  private Path keys;

  @BeforeEach
  void writeKeys() throws IOException {
    keys = Files.writeString(directory.resolve("keys"), line("k1", 1));
  }

  private static String line(String id, int fill) {
    byte[] key = new byte[32];
    Arrays.fill(key, (byte) fill);
    return id + " " + Base64.getEncoder().encodeToString(key) + "\n";
  }

  private Path data() {
    return directory.resolve("data");
  }

  private Connection connect(boolean encrypted) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate:embedded:" + data() + (encrypted ? "?dataKeyFile=" + keys : ""));
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static Set<Path> temporary() throws IOException {
    try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return new HashSet<>(files.filter(Files::isRegularFile).toList());
    }
  }

  /** Returns which files have the marker. */
  private Set<String> marked(Set<Path> before) throws IOException {
    Set<Path> files = temporary();
    files.removeAll(before);
    try (Stream<Path> all = Files.walk(data())) {
      files.addAll(all.filter(Files::isRegularFile).toList());
    }
    Set<String> marked = new TreeSet<>();
    for (Path file : files) {
      String content = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
      if (content.toLowerCase(Locale.ROOT).contains(MARKER)) {
        String name = file.getFileName().toString();
        marked.add(name.substring(0, Math.max(1, name.replace('.', '_').indexOf('_'))));
      }
    }
    return marked;
  }

  /** Uses all that H2 could write to a file: large values, sorts, results, temporary tables. */
  private void work(Connection connection) throws SQLException {
    run(connection, "SELECT acquire_lock('" + MARKER + "')");
    run(connection, "CREATE TABLE \"" + MARKER + "\" (ID INT PRIMARY KEY, V VARCHAR(300), C CLOB)");
    run(connection, "COMMENT ON TABLE \"" + MARKER + "\" IS '" + MARKER + "'");
    run(connection, "CREATE VIEW W AS SELECT '" + MARKER + "' AS V");
    connection.setAutoCommit(false);
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO \"" + MARKER + "\" VALUES (?, ?, ?)")) {
      for (int i = 0; i < ROWS; i++) {
        insert.setInt(1, i);
        insert.setString(2, MARKER + " " + (i * 7919 % ROWS) + " " + "x".repeat(200));
        insert.setString(3, null);
        insert.addBatch();
        if (i % 500 == 499) {
          insert.executeBatch();
        }
      }
      insert.setInt(1, ROWS);
      insert.setString(2, MARKER);
      insert.setCharacterStream(3, new StringReader((MARKER + " ").repeat(20_000)));
      insert.executeUpdate();
    }
    connection.commit();
    connection.setAutoCommit(true);
    run(connection, "CREATE INDEX I ON \"" + MARKER + "\" (V)");
    run(connection, "CREATE TEMP TABLE TT(V VARCHAR(100))");
    run(connection, "INSERT INTO TT VALUES('" + MARKER + "')");
    run(connection, "CALL take_snapshot()");
    run(connection, "UPDATE \"" + MARKER + "\" SET V = V || '" + MARKER + "' WHERE ID < 100");
  }

  private static int read(Connection connection, Check check) throws Exception {
    int rows = 0;
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(50);
      try (ResultSet sorted =
          statement.executeQuery(
              "SELECT DISTINCT A.V, A.C FROM \""
                  + MARKER
                  + "\" A JOIN \""
                  + MARKER
                  + "\" B ON A.ID = B.ID ORDER BY 1 DESC")) {
        while (sorted.next()) {
          if (rows++ == 100) {
            check.run();
          }
          try (Reader text = sorted.getCharacterStream(2)) {
            if (text != null) {
              text.transferTo(Writer.nullWriter());
            }
          }
        }
      }
    }
    return rows;
  }

  private interface Check {
    void run() throws Exception;
  }

  /** Without keys the marker is in the log and in the snapshots, so the search finds it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void markerIsInNoFile(boolean encrypted) throws Exception {
    Set<Path> before = temporary();
    Set<String> expected = encrypted ? Set.of() : Set.of("log", "snapshot");
    try (Connection connection = connect(encrypted)) {
      work(connection);
      assertEquals(
          ROWS + 1,
          read(connection, () -> assertEquals(expected, marked(before), "while it is read")));
    }
    assertEquals(expected, marked(before), "after the end");
    try (Connection connection = connect(encrypted)) {
      assertEquals(ROWS + 1, read(connection, () -> assertEquals(expected, marked(before))));
    }
    assertEquals(expected, marked(before), "after a restart");
  }

  private String refusal(boolean encrypted) {
    SQLException refused = assertThrows(SQLException.class, () -> connect(encrypted).close());
    assertEquals("08001", refused.getSQLState());
    return refused.getMessage();
  }

  @Test
  void otherKeyOrNoneIsRefused() throws Exception {
    try (Connection connection = connect(true)) {
      run(connection, "CREATE TABLE T (ID INT)");
    }
    Path identity = data().resolve("identity");
    String none = refusal(false);
    assertTrue(none.contains(identity + " is encrypted with data key 'k1'"), none);
    assertTrue(none.contains("dataKeyFile"), none);
    Files.writeString(keys, line("k2", 2));
    String other = refusal(true);
    assertTrue(other.contains(identity + " is encrypted with data key 'k1'"), other);
    assertTrue(other.contains("none of the data keys [k2]"), other);
    Files.writeString(keys, line("k1", 3));
    String impostor = refusal(true);
    assertTrue(impostor.contains("another data key 'k1'"), impostor);
    Files.delete(keys);
    String gone = refusal(true);
    assertTrue(gone.contains("the data key file " + keys + " cannot be read"), gone);
    Files.writeString(keys, line("k2", 2) + line("k1", 1));
    try (Connection connection = connect(true);
        Statement statement = connection.createStatement()) {
      assertFalse(statement.executeQuery("SELECT * FROM T").next());
    }
  }

  @Test
  void directoryThatIsNotEncryptedIsRefusedWithKeys() throws Exception {
    try (Connection connection = connect(false)) {
      run(connection, "CREATE TABLE T (ID INT)");
    }
    String why = refusal(true);
    assertTrue(why.contains(data().resolve("identity") + " is not encrypted"), why);
    assertTrue(why.contains("tollgate restore"), why);
    try (Connection connection = connect(false)) {
      assertTrue(connection.isValid(1));
    }
  }
}
