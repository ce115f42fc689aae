package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** {@code tollgate verify} on backups that are good, and on all that can be wrong with them. */
@ResourceLock(Resources.SYSTEM_ERR)
@ResourceLock(Resources.SYSTEM_OUT)
class VerifyCommandTest {
  @TempDir static Path folder;
  private static Path plain;
  private static Path sealed;
  private static Path passphrase;

  private record Ended(int status, String out, String err) {}

  private static Ended run(String... arguments) {
    PrintStream err = System.err;
    PrintStream out = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      int status = Main.commandLine().execute(arguments);
      return new Ended(
          status, said.toString(StandardCharsets.UTF_8), printed.toString(StandardCharsets.UTF_8));
    } finally {
      System.setErr(err);
      System.setOut(out);
    }
  }

  @BeforeAll
  static void writeBackups() throws Exception {
    plain = folder.resolve("plain");
    sealed = folder.resolve("sealed");
    passphrase = Files.writeString(folder.resolve("passphrase"), "open sesame\n");
    Files.setPosixFilePermissions(passphrase, PosixFilePermissions.fromString("rw-------"));
    String url = "jdbc:tollgate:embedded:" + folder.resolve("node");
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        LockClient client = LockClient.connect(url);
        HeldLock lock = client.acquire("held")) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR)");
      statement.execute("INSERT INTO T SELECT X, 'row ' || X FROM SYSTEM_RANGE(1, 1000)");
      assertTrue(lock.isHeld());
      Ended first = run("backup", "-u", url, plain.toString());
      assertEquals(0, first.status(), first.err());
      Ended second = run("backup", "-u", url, sealed.toString(), "--passphrase-file=" + passphrase);
      assertEquals(0, second.status(), second.err());
    }
  }

  private static Path damaged(Path file, int at) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[at < 0 ? bytes.length + at : at] ^= 1;
    return Files.write(folder.resolve("damaged"), bytes);
  }

  @Test
  void goodFilesAreGood() throws Exception {
    Ended both = run("verify", plain.toString());
    assertEquals(0, both.status(), both.err());
    assertTrue(
        both.out()
            .matches(
                plain
                    + ": good, log index \\d+, last changed \\S+, epoch 0, \\d+ bytes, \\d+ rows\n"),
        both.out());
    Ended secret = run("verify", sealed.toString(), "--passphrase-file=" + passphrase);
    assertEquals(0, secret.status(), secret.err());
    assertTrue(secret.out().endsWith(" rows, encrypted\n"), secret.out());
  }

  @Test
  void loadSaysWhatANodeWouldHave() {
    Ended loaded = run("verify", "--load", sealed.toString(), "--passphrase-file=" + passphrase);
    assertEquals(0, loaded.status(), loaded.err());
    assertTrue(loaded.out().contains(", loads: 1 held locks, "), loaded.out());
  }

  @Test
  void everyChangeIsNoticed() throws Exception {
    for (Path file : List.of(plain, sealed)) {
      String[] secret =
          file.equals(sealed) ? new String[] {"--passphrase-file=" + passphrase} : new String[0];
      long size = Files.size(file);
      for (int at : new int[] {0, 5, (int) size / 2, -33, -1}) {
        String changed = damaged(file, at).toString();
        Ended ended =
            run(
                Stream.concat(Stream.of("verify", changed), Stream.of(secret))
                    .toArray(String[]::new));
        assertEquals(1, ended.status(), file + " changed at " + at + ": " + ended.out());
        assertTrue(ended.err().startsWith("tollgate: " + changed + " is not good: "), ended.err());
        assertEquals("", ended.out());
      }
      byte[] bytes = Files.readAllBytes(file);
      Path cut = Files.write(folder.resolve("cut"), Arrays.copyOf(bytes, bytes.length - 1));
      assertEquals(
          1,
          run(Stream.concat(Stream.of("verify", cut.toString()), Stream.of(secret))
                  .toArray(String[]::new))
              .status());
    }
  }

  @Test
  void allFilesAreCheckedThoughOneIsMissing() {
    Path missing = folder.resolve("missing");
    Ended ended = run("verify", missing.toString(), plain.toString());
    assertEquals(1, ended.status());
    assertTrue(ended.err().contains(missing + " is not there"), ended.err());
    assertTrue(ended.out().startsWith(plain + ": good"), ended.out());
  }

  @Test
  void passphraseIsNeededAndHasToBeRight() throws Exception {
    Ended without = run("verify", sealed.toString());
    assertEquals(1, without.status());
    assertTrue(without.err().contains("is encrypted: give its passphrase"), without.err());
    Path other = Files.writeString(folder.resolve("other"), "open barley\n");
    Ended wrong = run("verify", sealed.toString(), "--passphrase-file=" + other);
    assertEquals(1, wrong.status());
    assertTrue(wrong.err().contains("the passphrase is wrong, or"), wrong.err());
  }
}
