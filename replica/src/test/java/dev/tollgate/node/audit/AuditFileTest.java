package dev.tollgate.node.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The audit file on disk. */
class AuditFileTest {
  private static final String HEADER =
      "{\"time\":\"t\",\"event\":\"audit_continued\",\"directory\":\"d\",\"index\":7,\"ordinal\":2,"
          + "\"number\":1,\"node\":\"n1\"}\n";

  @TempDir Path directory;

  private Path path() {
    return directory.resolve("audit.log");
  }

  private AuditFile file() {
    return new AuditFile(new AuditSettings(path(), AuditSettings.LEAST_BYTES, 3, 2));
  }

  private static String line(long index, int bytes) {
    return "{\"time\":\"t\",\"event\":\"e\",\"index\":"
        + index
        + ",\"ordinal\":0,\"number\":0,\"x\":\""
        + "x".repeat(bytes)
        + "\"}\n";
  }

  /** The lines of a file without their hashes. */
  private static String text(Path file) throws IOException {
    return Files.readString(file)
        .replaceAll("(,\"before\":\"[0-9a-f]{64}\")?,\"chain\":\"[0-9a-f]{64}\"", "");
  }

  private static String rights(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  private AuditTarget.Progress reopened() throws IOException {
    try (AuditFile file = file()) {
      return file.open();
    }
  }

  @Test
  void fileIsPrivateAndBeginsWithItsPlace() throws IOException {
    try (AuditFile file = file()) {
      assertEquals(AuditTarget.Progress.NONE, file.open());
      file.append(HEADER, line(8, 0));
      assertEquals("rw-------", rights(path()));
      assertEquals(HEADER + line(8, 0), text(path()));
    }
    assertEquals(new AuditTarget.Progress("d", new AuditPosition(8, 0, 0)), reopened());
  }

  @Test
  void fullFileIsRenamedAndTheOldestIsDeleted() throws IOException {
    try (AuditFile file = file()) {
      file.open();
      for (int index = 1; index <= 5; index++) {
        file.append(HEADER, line(index, 10_000));
      }
    }
    assertEquals(
        List.of("audit.log", "audit.log.1", "audit.log.2"),
        List.of(directory.toFile().list()).stream().sorted().toList());
    assertEquals(HEADER + line(5, 10_000), text(path()));
    assertEquals(HEADER + line(3, 10_000), text(directory.resolve("audit.log.2")));
    assertEquals("rw-------", rights(path()));
    Files.delete(path());
    assertEquals(new AuditPosition(4, 0, 0), reopened().position(), "a crash within a rotation");
  }

  @Test
  void firstLineOfAFileIsEnoughToGoOn() throws IOException {
    Files.writeString(path(), HEADER);
    assertEquals(new AuditTarget.Progress("d", new AuditPosition(7, 2, 1)), reopened());
  }

  @Test
  void snapshotCoversItsWholeEntry() throws IOException {
    Files.writeString(
        path(),
        HEADER + "{\"time\":\"t\",\"event\":\"snapshot_begun\",\"index\":9,\"node\":\"n1\"}\n");
    assertEquals(AuditPosition.endOf(9), reopened().position());
  }

  @Test
  void tornLineIsCutOff() throws IOException {
    try (AuditFile file = file()) {
      file.open();
      file.append(HEADER, line(8, 0));
    }
    Files.writeString(
        path(), "{\"time\":\"t\",\"event\":\"e\",\"index\":9,\"or", StandardOpenOption.APPEND);
    assertEquals(new AuditPosition(8, 0, 0), reopened().position());
    assertEquals(HEADER + line(8, 0), text(path()));
  }

  @Test
  void textOfAClientIsNoPlace() throws IOException {
    String text =
        new JsonLine(0, "login_failed").text("user", HEADER.trim() + "\n" + line(99, 0)).toString();
    Files.writeString(path(), HEADER + text);
    assertEquals(new AuditPosition(7, 2, 1), reopened().position());
  }

  @Test
  void fileThatIsMovedAwayIsMadeAnew() throws IOException {
    try (AuditFile file = file()) {
      file.open();
      file.append(HEADER, line(8, 0));
      Files.move(path(), directory.resolve("moved"));
      file.force();
      file.append(HEADER, line(9, 0));
    }
    assertEquals(HEADER + line(9, 0), text(path()));
  }

  @Test
  void fileThatCannotBeOpenedIsAnError() {
    AuditFile file =
        new AuditFile(
            new AuditSettings(
                directory.resolve("none").resolve("f"), AuditSettings.LEAST_BYTES, 2, 2));
    assertThrows(IOException.class, file::open);
    assertFalse(Files.exists(directory.resolve("none")));
  }

  @Test
  void existingFileKeepsItsLines() throws IOException {
    try (AuditFile file = file()) {
      file.open();
      file.append(HEADER, line(1, 0));
    }
    try (AuditFile file = file()) {
      file.open();
      file.append(HEADER, line(2, 0));
    }
    assertEquals(HEADER + line(1, 0) + line(2, 0), text(path()));
    Files.writeString(path(), "no line", StandardOpenOption.TRUNCATE_EXISTING);
    assertEquals(AuditTarget.Progress.NONE, reopened());
    assertTrue(Files.readString(path()).isEmpty());
  }

  @Test
  void copyHasTheLinesOfTheFile() throws IOException {
    StringBuilder copy = new StringBuilder();
    AuditSettings settings = new AuditSettings(path(), AuditSettings.LEAST_BYTES, 3, 2);
    try (AuditFile file = new AuditFile(settings, copy::append)) {
      file.open();
      file.append(HEADER, line(1, 0));
      file.append(HEADER, line(2, 0));
    }
    assertEquals(Files.readString(path()), copy.toString());
  }

  @Test
  void linesWithoutHashesAreLeftInAFileOfTheirOwn() throws IOException {
    Files.writeString(path(), HEADER + line(8, 0));
    try (AuditFile file = file()) {
      assertEquals(new AuditPosition(8, 0, 0), file.open().position());
      file.append(HEADER, line(9, 0));
    }
    assertEquals(HEADER + line(8, 0), Files.readString(directory.resolve("audit.log.1")));
    assertEquals(HEADER + line(9, 0), text(path()));
  }

  @Test
  void emptyFileAfterAPowerCutGoesOnFromTheFileBefore() throws IOException {
    try (AuditFile file = file()) {
      file.open();
      file.append(HEADER, line(8, 0));
    }
    Files.move(path(), directory.resolve("audit.log.1"));
    Files.createFile(path());
    try (AuditFile file = file()) {
      assertEquals(new AuditPosition(8, 0, 0), file.open().position());
      file.append(HEADER, line(9, 0));
    }
    assertEquals(
        List.of(4L),
        new AuditCheck(null)
            .check(List.of(path(), directory.resolve("audit.log.1"))).stream()
                .map(AuditCheck.Found::lines)
                .toList());
  }
}
