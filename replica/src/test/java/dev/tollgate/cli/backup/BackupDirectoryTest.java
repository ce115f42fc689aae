package dev.tollgate.cli.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.WholeFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The newest backups of a directory stay, the oldest go, and nothing else is touched. */
class BackupDirectoryTest {
  private static final Instant NOON = Instant.parse("2026-11-24T12:00:00Z");

  @TempDir private Path folder;
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private BackupDirectory directory;

  @AfterEach
  void close() throws IOException {
    directory.close();
  }

  private void open(int keep) throws IOException {
    if (directory != null) {
      directory.close();
    }
    directory =
        BackupDirectory.open(folder, keep, new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  private String add(Instant now) throws IOException {
    return directory.add(
        part -> written(part, "a backup whose last bytes are its own: " + now), now);
  }

  private static String written(Path part, String content) throws IOException {
    Files.writeString(part, content);
    return "all of it";
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.equals("tollgate-backups.list"))
          .filter(name -> !name.equals("tollgate-backups.lock"))
          .sorted()
          .toList();
    }
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }

  @Test
  void newestAreKept() throws Exception {
    open(2);
    for (int hour = 0; hour < 4; hour++) {
      String said = add(NOON.plusSeconds(hour * 3_600L));
      assertTrue(said.endsWith(".backup: all of it"), said);
    }
    assertEquals(
        List.of("tollgate-20261124T140000Z.backup", "tollgate-20261124T150000Z.backup"), files());
    assertEquals(NOON.plusSeconds(3 * 3_600), directory.newest().orElseThrow());
    assertEquals("", err());
  }

  @Test
  void listOutlivesTheProcess() throws Exception {
    open(3);
    add(NOON);
    add(NOON.plusSeconds(1));
    add(NOON.plusSeconds(2));
    open(1);
    add(NOON.plusSeconds(3));
    assertEquals(List.of("tollgate-20261124T120003Z.backup"), files());
  }

  @Test
  void filesOfOthersStay() throws Exception {
    open(1);
    Files.writeString(folder.resolve("tollgate-20260101T000000Z.backup"), "of another program");
    Files.writeString(folder.resolve("notes.txt"), "mine");
    add(NOON);
    add(NOON.plusSeconds(1));
    assertEquals(
        List.of(
            "notes.txt", "tollgate-20260101T000000Z.backup", "tollgate-20261124T120001Z.backup"),
        files());
  }

  @ParameterizedTest
  @ValueSource(strings = {"other bytes at the end", "more bytes"})
  void fileThatIsNoLongerTheOneWrittenStays(String change) throws Exception {
    open(1);
    add(NOON);
    Path first = folder.resolve("tollgate-20261124T120000Z.backup");
    String content = Files.readString(first);
    Files.writeString(
        first, change.equals("more bytes") ? "x" + content : content.replace('Z', 'z'));
    add(NOON.plusSeconds(1));
    add(NOON.plusSeconds(2));
    assertEquals(
        List.of("tollgate-20261124T120000Z.backup", "tollgate-20261124T120002Z.backup"), files());
    assertEquals(
        "tollgate backup: " + first + " is not the file that was written: it is kept for ever\n",
        err());
  }

  @Test
  void fileInPlaceOfABackupIsNotFollowed() throws Exception {
    open(1);
    add(NOON);
    Path first = folder.resolve("tollgate-20261124T120000Z.backup");
    Path elsewhere = Files.move(first, folder.resolve("elsewhere"));
    Files.createSymbolicLink(first, elsewhere);
    add(NOON.plusSeconds(1));
    assertTrue(Files.isSymbolicLink(first));
    assertTrue(Files.exists(elsewhere));
  }

  @Test
  void backupThatAnOperatorRemovesMakesRoom() throws Exception {
    open(2);
    add(NOON);
    add(NOON.plusSeconds(1));
    Files.delete(folder.resolve("tollgate-20261124T120001Z.backup"));
    add(NOON.plusSeconds(2));
    assertEquals(
        List.of("tollgate-20261124T120000Z.backup", "tollgate-20261124T120002Z.backup"), files());
  }

  @Test
  void backupThatFailsDeletesNothing() throws Exception {
    open(1);
    add(NOON);
    IOException away = new IOException("the node is away");
    for (int i = 1; i < 4; i++) {
      Instant now = NOON.plusSeconds(i);
      assertEquals(
          away,
          assertThrows(
              IOException.class,
              () ->
                  directory.add(
                      part -> {
                        written(part, "half of it");
                        throw away;
                      },
                      now)));
    }
    assertEquals(List.of("tollgate-20261124T120000Z.backup"), files());
    assertEquals(NOON, directory.newest().orElseThrow());
  }

  @Test
  void nameThatIsTakenIsNotOverwritten() throws Exception {
    open(5);
    Files.writeString(folder.resolve("tollgate-20261124T120000Z.backup"), "of another program");
    add(NOON);
    add(NOON);
    assertEquals(
        "of another program", Files.readString(folder.resolve("tollgate-20261124T120000Z.backup")));
    assertEquals(
        List.of(
            "tollgate-20261124T120000Z-2.backup",
            "tollgate-20261124T120000Z-3.backup",
            "tollgate-20261124T120000Z.backup"),
        files());
  }

  @Test
  void unfinishedFileOfAKilledProcessIsRemovedAtTheNextStart() throws Exception {
    open(2);
    add(NOON);
    Path list = folder.resolve("tollgate-backups.list");
    WholeFile.write(
        list, WholeFile.read(list) + "unfinished tollgate-20261124T120001Z.backup.part\n");
    Files.writeString(folder.resolve("tollgate-20261124T120001Z.backup.part"), "half");
    Files.writeString(folder.resolve("other.part"), "of another program");
    open(2);
    assertEquals(List.of("other.part", "tollgate-20261124T120000Z.backup"), files());
    assertFalse(Files.readString(list).contains("unfinished"));
  }

  @Test
  void giveUpRemovesWhatIsBeingWritten() throws Exception {
    open(2);
    assertThrows(
        IOException.class,
        () ->
            directory.add(
                part -> {
                  String said = written(part, "half");
                  directory.giveUp();
                  assertEquals(List.of(), files());
                  return said;
                },
                NOON));
    assertEquals(List.of(), files());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../secret 2026-11-24T12:00:00Z 1 00",
        "secret.txt 2026-11-24T12:00:00Z 1 00",
        "tollgate-20261124T120000Z.backup yesterday 1 00",
        "tollgate-20261124T120000Z.backup 2026-11-24T12:00:00Z",
        "unfinished ../secret.part",
        "unfinished secret.txt",
        "",
      })
  void listThatWasNotWrittenHereIsNotFollowed(String line) throws Exception {
    open(1);
    Path list = folder.resolve("tollgate-backups.list");
    WholeFile.write(list, "# a list\n" + line + "\n");
    IOException refused = assertThrows(IOException.class, () -> open(1));
    assertTrue(refused.getMessage().startsWith("line 2 of "), refused.getMessage());
    Files.writeString(list, "# a list\n");
    refused = assertThrows(IOException.class, () -> open(1));
    assertTrue(
        refused.getMessage().startsWith(list + " was not written by tollgate backup: "),
        refused.getMessage());
  }

  @Test
  void oneProcessAtATime() throws Exception {
    open(1);
    IOException refused =
        assertThrows(IOException.class, () -> BackupDirectory.open(folder, 1, System.err));
    assertEquals("another tollgate backup writes into " + folder, refused.getMessage());
  }

  @Test
  void directoryIsNotCreated() throws Exception {
    open(1);
    Path missing = folder.resolve("not mounted");
    assertThrows(NotDirectoryException.class, () -> BackupDirectory.open(missing, 1, System.err));
    assertTrue(Files.notExists(missing));
  }
}
