package dev.tollgate.node.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.KeyMissingException;
import dev.tollgate.seal.TestKeys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
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
    return new AuditFile(
        new AuditSettings(path(), AuditSettings.LEAST_BYTES, 3, 2), DataKeys.off(), OwnLog.NONE);
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
                directory.resolve("none").resolve("f"), AuditSettings.LEAST_BYTES, 2, 2),
            DataKeys.off(),
            OwnLog.NONE);
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

  private AuditFile encrypted(DataKeys keys) {
    return new AuditFile(
        new AuditSettings(path(), AuditSettings.LEAST_BYTES, 3, 2), keys, new OwnLog("d", 1_000));
  }

  private static String marked(long index) {
    return line(index, 0).replace("}\n", ",\"user\":\"MARKER_4711\"}\n");
  }

  private List<Path> all() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.toList();
    }
  }

  private boolean hasMarker() throws IOException {
    boolean found = false;
    for (Path file : all()) {
      found |= Files.readString(file, StandardCharsets.ISO_8859_1).contains("MARKER_4711");
    }
    return found;
  }

  @Test
  void linesAreEncryptedWithTheKeyOfTheNode() throws IOException {
    try (AuditFile file = encrypted(DataKeys.off())) {
      file.open();
      file.append(HEADER, marked(7));
    }
    assertTrue(hasMarker());
    Files.delete(path());
    DataKeys keys = TestKeys.of("k1");
    try (AuditFile file = encrypted(keys)) {
      file.open();
      for (int index = 1; index <= 100; index++) {
        file.append(HEADER, marked(index));
      }
    }
    assertTrue(all().size() > 1, all().toString());
    assertFalse(hasMarker());
    AuditFile again = encrypted(keys);
    assertEquals(new AuditPosition(100, 0, 0), again.open().position());
    assertEquals(Set.of("k1"), again.keysInUse());
    again.close();
    assertThrows(KeyMissingException.class, () -> encrypted(DataKeys.off()).open());
    assertThrows(KeyMissingException.class, () -> encrypted(TestKeys.impostor("k1")).open());
  }

  private List<AuditCheck.Found> check(DataKeys keys, List<String> lines) throws IOException {
    return new AuditCheck(null, keys, lines::add).check(all());
  }

  @Test
  void encryptedLinesAreStillAChain() throws IOException {
    DataKeys keys = TestKeys.of("k1");
    try (AuditFile file = encrypted(keys)) {
      file.open();
      file.append(HEADER, marked(1) + marked(2));
      file.append(HEADER, marked(3));
    }
    List<String> lines = new ArrayList<>();
    assertNull(check(keys, lines).get(0).fault());
    assertTrue(lines.get(2).contains("MARKER_4711"), lines.toString());
    assertThrows(KeyMissingException.class, () -> check(DataKeys.off(), lines));
    List<String> stored = Files.readAllLines(path());
    // exchanged, left out, changed, and replaced by one without encryption
    for (List<String> forged :
        List.of(
            List.of(stored.get(0), stored.get(2), stored.get(1), stored.get(3)),
            List.of(stored.get(0), stored.get(1), stored.get(3)),
            List.of(stored.get(0), stored.get(1), stored.get(2).replaceFirst("[a-f]", "0")),
            List.of(stored.get(0), stored.get(1), lines.get(2)))) {
      Files.write(path(), forged);
      AuditCheck.Fault fault = check(keys, lines).get(0).fault();
      assertTrue(fault != null && fault.line() >= 2, forged.toString());
    }
  }

  @Test
  void everyFileHasOneKey() throws IOException {
    TestKeys source = TestKeys.source("k1");
    DataKeys keys = DataKeys.read(source);
    try (AuditFile plain = encrypted(DataKeys.off())) {
      plain.open();
      plain.append(HEADER, line(1, 0));
    }
    AuditFile file = encrypted(keys);
    file.open();
    file.append(HEADER, marked(2));
    source.become("k2", "k1");
    keys.reload(file.keysInUse());
    file.append(HEADER, marked(3));
    file.close();
    assertEquals(Set.of("k2", "k1"), file.keysInUse());
    assertTrue(Files.readString(path()).startsWith("TGL1 k2 "));
    assertTrue(Files.readString(directory.resolve("audit.log.1")).startsWith("TGL1 k1 "));
    assertTrue(Files.readString(directory.resolve("audit.log.2")).startsWith("{"));
    List<String> lines = new ArrayList<>();
    List<AuditCheck.Found> found = check(keys, lines);
    assertNull(found.get(0).fault());
    assertEquals(6, lines.size());
    source.become("k2");
    assertThrows(IOException.class, () -> keys.reload(file.keysInUse()));
    try (AuditFile further = encrypted(keys)) {
      further.open();
      for (int index = 10; index <= 140; index++) {
        further.append(HEADER, marked(index));
      }
      assertEquals(Set.of("k2"), further.keysInUse());
      assertEquals(DataKeys.Reload.CHANGED, keys.reload(further.keysInUse()));
    }
  }

  /** Who can write to the file and lacks the key must not silence the node, nor speak for it. */
  @Test
  void lineInTheClearInAnEncryptedFileIsNoPlaceAndNoLineForReaders() throws IOException {
    DataKeys keys = TestKeys.of("k1");
    try (AuditFile file = encrypted(keys)) {
      file.open();
      file.append(HEADER, line(7, 0));
    }
    String planted =
        line(999_999_999_999L, 0)
            .replace("}\n", ",\"user\":\"PLANTED\",\"chain\":\"" + "0".repeat(64) + "\"}\n");
    Files.writeString(path(), planted, StandardOpenOption.APPEND);
    try (AuditFile file = encrypted(keys)) {
      assertEquals(new AuditPosition(7, 0, 0), file.open().position());
      file.append(HEADER, line(8, 0));
      AuditFile.Piece piece = file.read(null);
      assertFalse(piece.lines().toString().contains("PLANTED"), piece.toString());
    }
    try (AuditFile file = encrypted(keys)) {
      assertEquals(new AuditPosition(8, 0, 0), file.open().position());
    }
    assertTrue(
        check(keys, new ArrayList<>()).stream().anyMatch(found -> found.fault() != null),
        "verify finds the line");
  }

  /** Returns where a node goes on that finds these lines. */
  private AuditPosition positionAfter(DataKeys keys, List<String> stored) throws IOException {
    Files.write(path(), stored);
    try (AuditFile file = encrypted(keys)) {
      AuditPosition found = file.open().position();
      file.append(HEADER, line(9, 0));
      return found;
    }
  }

  private List<String> fourLines(DataKeys keys) throws IOException {
    try (AuditFile file = encrypted(keys)) {
      file.open();
      file.append(HEADER, line(7, 0) + line(8, 0) + line(9, 0));
    }
    return Files.readAllLines(path());
  }

  @Test
  void placeBeyondTheLogOfTheNodeIsNotBelieved() throws IOException {
    for (DataKeys keys : List.of(DataKeys.off(), TestKeys.of("k1"))) {
      try (AuditFile file = encrypted(keys)) {
        file.open();
        file.append(HEADER, line(1_000, 0) + line(1_001, 0));
      }
      try (AuditFile file = encrypted(keys)) {
        assertEquals(new AuditPosition(1_000, 0, 0), file.open().position());
        file.append(HEADER, line(1_001, 0));
      }
      assertNull(
          new AuditCheck(null, keys)
              .check(List.of(path(), directory.resolve("audit.log.1")))
              .get(0)
              .fault());
      Files.delete(path());
      Files.delete(directory.resolve("audit.log.1"));
    }
  }

  @Test
  void fileInTheClearIsNoPlaceAndHasNoLinesForReadersOnceThereAreKeys() throws IOException {
    try (AuditFile file = encrypted(DataKeys.off())) {
      file.open();
      file.append(HEADER, marked(900));
    }
    try (AuditFile file = encrypted(TestKeys.of("k1"))) {
      assertEquals(AuditTarget.Progress.NONE, file.open());
      file.append(HEADER, line(1, 0));
      String read = file.read(null).lines().toString();
      assertFalse(read.contains("MARKER_4711"), read);
    }
  }

  @Test
  void lineInTheClearAtTheHeadHidesNoLineAfterIt() throws IOException {
    DataKeys keys = TestKeys.of("k1");
    List<String> stored = new ArrayList<>(fourLines(keys));
    stored.add(0, line(900, 0).trim());
    assertEquals(new AuditPosition(9, 0, 0), positionAfter(keys, stored));
    try (AuditFile file = encrypted(keys)) {
      file.open();
      AuditFile.Piece piece = file.read(null);
      assertEquals(4, piece.lines().size());
    }
  }

  @Test
  void linesThatDoNotFollowEachOtherAreNoPlace() throws IOException {
    DataKeys keys = TestKeys.of("k1");
    List<String> stored = fourLines(keys);
    List<String> moved = List.of(stored.get(0), stored.get(1), stored.get(3), stored.get(2));
    assertEquals(new AuditPosition(8, 0, 0), positionAfter(keys, moved));
    List<String> repeated = List.of(stored.get(0), stored.get(1), stored.get(2), stored.get(1));
    assertEquals(new AuditPosition(8, 0, 0), positionAfter(keys, repeated));
    assertEquals(new AuditPosition(9, 0, 0), positionAfter(keys, stored));
  }

  /** Another node may have the same key. */
  @Test
  void lineOfAnotherFileIsNoPlace() throws IOException {
    DataKeys keys = TestKeys.of("k1");
    List<String> stored = fourLines(keys);
    Files.delete(path());
    try (AuditFile file = encrypted(keys)) {
      file.open();
      file.append(HEADER, line(5, 0) + line(8, 0) + line(9, 0));
    }
    String other = Files.readAllLines(path()).get(3);
    List<String> taken = List.of(stored.get(0), stored.get(1), stored.get(2), other);
    assertEquals(new AuditPosition(8, 0, 0), positionAfter(keys, taken));
  }

  @Test
  void fileAfterAnAlteredLineGoesOnFromTheLastGoodOne() throws IOException {
    DataKeys keys = TestKeys.of("k1");
    List<String> stored = new ArrayList<>(fourLines(keys));
    stored.set(3, stored.get(3).substring(0, 60) + "AAAA" + stored.get(3).substring(64));
    assertEquals(new AuditPosition(8, 0, 0), positionAfter(keys, stored));
    Files.write(directory.resolve("audit.log.1"), stored.subList(0, 3));
    assertNull(check(keys, new ArrayList<>()).get(0).fault());
  }

  /** A bit that has turned in one line costs one line, and no node. */
  @Test
  void alteredLineKeepsNoNodeFromStarting() throws IOException {
    DataKeys keys = TestKeys.of("k1");
    try (AuditFile file = encrypted(keys)) {
      file.open();
      file.append(HEADER, line(1, 0) + line(2, 0));
    }
    List<String> stored = new ArrayList<>(Files.readAllLines(path()));
    stored.set(2, stored.get(2).substring(0, 60) + "AAAA" + stored.get(2).substring(64));
    Files.write(path(), stored);
    try (AuditFile file = encrypted(keys)) {
      assertEquals(new AuditPosition(1, 0, 0), file.open().position());
      file.append(HEADER, line(2, 0));
    }
    assertTrue(Files.exists(directory.resolve("audit.log.1")));
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
        new AuditCheck(null, DataKeys.off())
            .check(List.of(path(), directory.resolve("audit.log.1"))).stream()
                .map(AuditCheck.Found::lines)
                .toList());
  }
}
