package dev.tollgate.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.KeyFile;
import dev.tollgate.seal.LineSeal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** {@code tollgate audit verify} on a file that is made as docs/security.md says. */
@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
class AuditCommandTest {
  private static final String NONE = "0".repeat(64);

  @TempDir Path directory;

  private Path file;
  private String last = NONE;

  private record Ended(int status, String out) {}

  private static Ended verify(String... arguments) {
    return audit("verify", arguments);
  }

  private static Ended audit(String command, String... arguments) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream both = PlainOutput.to(said, StandardCharsets.UTF_8);
    System.setOut(both);
    System.setErr(both);
    try {
      String[] all = new String[arguments.length + 2];
      all[0] = "audit";
      all[1] = command;
      System.arraycopy(arguments, 0, all, 2, arguments.length);
      int status = Main.commandLine().execute(all);
      return new Ended(status, said.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  @BeforeEach
  void writeFile() throws Exception {
    file = directory.resolve("audit.log");
    add("{\"event\":\"audit_started\",\"before\":\"" + NONE + "\"");
    add("{\"event\":\"login\",\"user\":\"JÖ\"");
  }

  private void add(String body) throws Exception {
    byte[] hash =
        MessageDigest.getInstance("SHA-256").digest((last + body).getBytes(StandardCharsets.UTF_8));
    last = HexFormat.of().formatHex(hash);
    append(body + ",\"chain\":\"" + last + "\"}\n");
  }

  private void append(String text) throws IOException {
    Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private void assertEnds(int status, String said, Ended ended) {
    assertEquals(status, ended.status(), ended.out());
    assertTrue(ended.out().contains(said), ended.out());
  }

  @Test
  void fileThatFitsIsGood() {
    assertEnds(
        0,
        file + ": 2 lines, all fit; the last one has the hash " + last,
        verify(file.toString(), "--contains", last));
  }

  @Test
  void firstLineThatDoesNotFitIsNamed() throws IOException {
    Files.writeString(file, Files.readString(file).replace("JÖ", "AL"));
    assertEnds(
        1, file + ", line 2: the line was altered, or lines before", verify(file.toString()));
  }

  @Test
  void tornLineIsTold() throws IOException {
    append("{\"event\"");
    assertEnds(0, "ends with 8 bytes of a line that was not written", verify(file.toString()));
  }

  @Test
  void hashThatIsNotThereFails() {
    String other = "a".repeat(64);
    assertEnds(
        1, "no line that fits has the hash " + other, verify(file.toString(), "--contains", other));
    assertEnds(2, "64 hexadecimal digits", verify(file.toString(), "--contains", "x"));
  }

  @Test
  void fileThatIsMissingFails() {
    assertEnds(1, "none is not there", verify(directory.resolve("none").toString()));
  }

  @Test
  void printShowsTheLinesAndNothingActs() throws Exception {
    add("{\"event\":\"login\",\"user\":\"EVE\u001b[2J\"");
    Ended printed = audit("print", file.toString());
    assertEquals(0, printed.status(), printed.out());
    assertEquals(Files.readString(file).replace('\u001b', '?'), printed.out());
    append("{\"event\":\"added\"}\n");
    assertEnds(1, file + ", line 4: the line has no hash", audit("print", file.toString()));
  }

  @Test
  void encryptedFileIsPrintedAndCheckedWithItsKey() throws Exception {
    Path keyFile = directory.resolve("keys");
    Files.writeString(keyFile, "k1 " + "A".repeat(43) + "=\n");
    Files.setPosixFilePermissions(keyFile, PosixFilePermissions.fromString("rw-------"));
    LineSeal seal = LineSeal.with(DataKeys.read(new KeyFile(keyFile)));
    String text = Files.readString(file);
    StringBuilder sealed = new StringBuilder();
    text.lines()
        .map(line -> new String(seal.seal(line.getBytes(StandardCharsets.UTF_8)), US_ASCII))
        .forEach(line -> sealed.append(line).append('\n'));
    Files.writeString(file, sealed);
    assertEnds(1, "--data-key-file", verify(file.toString()));
    assertEnds(1, "--data-key-file", audit("print", file.toString()));
    String key = "--data-key-file=" + keyFile;
    assertEnds(0, "2 lines, all fit", verify(key, file.toString(), "--contains", last));
    Ended printed = audit("print", key, file.toString());
    assertEquals(0, printed.status(), printed.out());
    assertEquals(text, printed.out());
  }
}
