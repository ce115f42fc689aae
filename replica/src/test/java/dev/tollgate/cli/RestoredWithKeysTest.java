package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A directory that a backup and data keys make: how a node that is alone is encrypted. */
class RestoredWithKeysTest {
  private static final String CANARY = "canary-in-a-row";

  @TempDir Path directory;

  private String url(String node) {
    return "jdbc:tollgate:embedded:" + directory.resolve(node);
  }

  private static void run(String... arguments) {
    assertEquals(0, Main.commandLine().execute(arguments));
  }

  private static int rows(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("SELECT COUNT(*) FROM T WHERE V = '" + CANARY + "'")) {
      assertTrue(rows.next());
      return rows.getInt(1);
    }
  }

  private boolean hasCanary(String node) throws IOException {
    try (Stream<Path> files = Files.walk(directory.resolve(node))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (Files.readString(file, StandardCharsets.ISO_8859_1).contains(CANARY)) {
          return true;
        }
      }
      return false;
    }
  }

  @Test
  void nodeThatIsAloneIsEncryptedByABackupAndARestore() throws Exception {
    try (Connection connection = DriverManager.getConnection(url("old"));
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T (V VARCHAR(100))");
      statement.execute("INSERT INTO T VALUES ('" + CANARY + "')");
    }
    assertTrue(hasCanary("old"));
    Path keys =
        Files.writeString(
            directory.resolve("keys"), "k1 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n");
    Path backup = directory.resolve("backup");
    run("backup", "-u", url("old"), backup.toString());
    run(
        "restore",
        backup.toString(),
        "--data=" + directory.resolve("new"),
        "--data-key-file=" + keys);
    assertFalse(hasCanary("new"));
    assertThrows(SQLException.class, () -> rows(url("new")), "its keys are missing");
    assertEquals(1, rows(url("new") + "?dataKeyFile=" + keys));
    assertEquals(1, rows(url("new") + "?dataKeyFile=" + keys));
    assertFalse(hasCanary("new"));

    Path again = directory.resolve("again");
    run("backup", "-u", url("new") + "?dataKeyFile=" + keys, again.toString());
    run("restore", again.toString(), "--data=" + directory.resolve("clear"));
    assertEquals(1, rows(url("clear")));
  }
}
