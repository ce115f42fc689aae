package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** Backups with and without a passphrase, by the commands that write and read them. */
@ResourceLock(Resources.SYSTEM_ERR)
class EncryptedBackupTest {
  private static final String CANARY = "canary-in-a-row";

  @TempDir Path directory;

  private Path passphrase;

  private record Ended(int status, String err) {}

  private static Ended run(String... arguments) {
    PrintStream err = System.err;
    PrintStream out = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    System.setOut(new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8));
    try {
      int status = Main.commandLine().execute(arguments);
      return new Ended(status, printed.toString(StandardCharsets.UTF_8));
    } finally {
      System.setErr(err);
      System.setOut(out);
    }
  }

  private String url(String node) {
    return "jdbc:tollgate:embedded:" + directory.resolve(node);
  }

  private static String rights(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  private static boolean contains(Path file, String text) throws IOException {
    return Files.readString(file, StandardCharsets.ISO_8859_1).contains(text);
  }

  @BeforeEach
  void writePassphrase() throws IOException {
    passphrase = Files.writeString(directory.resolve("passphrase"), "open sesame\n");
    Files.setPosixFilePermissions(passphrase, PosixFilePermissions.fromString("rw-------"));
  }

  private void backup(Path file, String... more) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url("old"));
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS T(V VARCHAR)");
      statement.execute("INSERT INTO T VALUES('" + CANARY + "')");
      String[] arguments = {"backup", "-u", url("old"), file.toString()};
      Ended ended = run(concatenated(arguments, more));
      assertEquals(0, ended.status(), ended.err());
    }
  }

  private static String[] concatenated(String[] first, String... second) {
    String[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }

  private Ended restore(Path file, String node, String... more) {
    return run(
        concatenated(
            new String[] {"restore", file.toString(), "--data=" + directory.resolve(node)}, more));
  }

  @Test
  void encryptedBackupComesBackWithItsPassphraseAlone() throws Exception {
    Path file = directory.resolve("backup");
    backup(file, "--passphrase-file=" + passphrase);
    assertEquals("rw-------", rights(file));
    assertFalse(contains(file, CANARY));

    Ended without = restore(file, "b");
    assertEquals(1, without.status());
    assertTrue(without.err().contains("is encrypted: give its passphrase"), without.err());
    Path other = Files.writeString(directory.resolve("other"), "open barley\n");
    Ended wrong = restore(file, "b", "--passphrase-file=" + other);
    assertEquals(1, wrong.status());
    assertTrue(wrong.err().contains("the passphrase is wrong, or"), wrong.err());
    assertFalse(wrong.err().contains("barley"), wrong.err());
    assertTrue(Files.notExists(directory.resolve("b")), "nothing has begun");

    Ended right = restore(file, "b", "--passphrase-file=" + passphrase);
    assertEquals(0, right.status(), right.err());
    assertEquals("rwx------", rights(directory.resolve("b")));
    try (Connection connection = DriverManager.getConnection(url("b"));
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT V FROM T")) {
      assertTrue(rows.next());
      assertEquals(CANARY, rows.getString(1));
    }
  }

  @Test
  void passphraseForAFileThatIsNotEncryptedIsRefused() throws Exception {
    Path file = directory.resolve("backup");
    backup(file);
    assertEquals("rw-------", rights(file));
    assertTrue(contains(file, CANARY));
    Ended ended = restore(file, "b", "--passphrase-file=" + passphrase);
    assertEquals(1, ended.status());
    assertTrue(ended.err().contains("is not encrypted, so anybody"), ended.err());
  }

  @Test
  void othersWhoMayReadThePassphraseAreNamed() throws Exception {
    Files.setPosixFilePermissions(passphrase, PosixFilePermissions.fromString("rw-r--r--"));
    Path file = directory.resolve("none");
    Ended ended = restore(file, "b", "--passphrase-file=" + passphrase);
    assertTrue(ended.err().contains("others may read the passphrase file"), ended.err());
    assertTrue(ended.err().contains("rw-r--r--"), ended.err());
  }

  @Test
  void filesOfANodeArePrivate() throws Exception {
    backup(directory.resolve("backup"));
    Path data = directory.resolve("old");
    assertEquals("rwx------", rights(data));
    try (var files = Files.walk(data)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.startsWith("snapshot.") && !name.endsWith(".md5")) {
          assertEquals("rw-------", rights(file), file.toString());
        }
      }
    }
  }
}
