package dev.tollgate.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.log.ratis.RecordedForces;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What each change of a file syncs; that nothing else changes files is a rule of architecture. */
class SyncedFilesTest {
  @TempDir private Path root;
  private Path here;
  private Path there;

  @BeforeEach
  void create() throws IOException {
    here = Files.createDirectory(root.resolve("here"));
    there = Files.createDirectory(root.resolve("there"));
  }

  /** A change of files. */
  private interface Change {
    void run() throws IOException;
  }

  private List<Path> forced(Change change) throws IOException {
    try (RecordedForces forces = new RecordedForces()) {
      change.run();
      return forces.in(root);
    }
  }

  private static void write(Path file, String text) throws IOException {
    SyncedFiles.write(file, out -> SyncedFiles.write(out, StandardCharsets.UTF_8.encode(text)));
  }

  @Test
  void contentIsSynced() throws IOException {
    Path file = here.resolve("file");
    assertEquals(List.of(file), forced(() -> write(file, "new")));
    assertEquals("new", Files.readString(file));
    assertEquals(List.of(file), forced(() -> SyncedFiles.truncate(file, 1)));
    assertEquals("n", Files.readString(file));
  }

  @Test
  void failureToWriteIsThatOfTheCaller() {
    assertThrows(
        InterruptedException.class,
        () ->
            SyncedFiles.write(
                here.resolve("file"),
                out -> {
                  throw new InterruptedException();
                }));
  }

  @Test
  void namesAreSyncedOnBothSides() throws IOException {
    write(here.resolve("a"), "a");
    write(here.resolve("b"), "b");
    assertEquals(
        List.of(here), forced(() -> SyncedFiles.move(here.resolve("a"), here.resolve("b"))));
    assertEquals("a", Files.readString(here.resolve("b")));
    assertEquals(
        List.of(there, here),
        forced(() -> SyncedFiles.move(here.resolve("b"), there.resolve("b"))));
    assertFalse(Files.exists(here.resolve("b")));
  }

  @Test
  void nothingIsSyncedBeforeTheRename() throws IOException {
    assertEquals(
        List.of(),
        forced(
            () ->
                assertThrows(
                    NoSuchFileException.class,
                    () -> SyncedFiles.move(here.resolve("none"), there.resolve("none")))));
  }

  @Test
  void directoryIsSyncedWithAllThatIsInItBeforeItIsRenamed() throws IOException {
    Files.writeString(here.resolve("file"), "written by another library");
    assertEquals(
        List.of(here, here.resolve("file"), there, root),
        forced(() -> SyncedFiles.move(here, there.resolve("here"))));
  }

  @Test
  void manyNamesAreSyncedTogether() throws IOException {
    Path aside = root.resolve("aside");
    assertEquals(List.of(root), forced(() -> SyncedFiles.createDirectory(aside)));
    write(here.resolve("a"), "a");
    write(here.resolve("b"), "b");
    write(there.resolve("c"), "c");
    assertEquals(
        List.of(aside, here, there),
        forced(
            () ->
                assertEquals(
                    List.of(aside.resolve("a"), aside.resolve("b"), aside.resolve("c")),
                    SyncedFiles.moveInto(
                        aside,
                        List.of(here.resolve("a"), here.resolve("b"), there.resolve("c"))))));
  }

  @Test
  void nameThatHasGoneIsSynced() throws IOException {
    write(here.resolve("a"), "a");
    assertEquals(List.of(here), forced(() -> SyncedFiles.deleteIfExists(here.resolve("a"))));
    assertEquals(List.of(), forced(() -> SyncedFiles.deleteIfExists(here.resolve("a"))));
  }
}
