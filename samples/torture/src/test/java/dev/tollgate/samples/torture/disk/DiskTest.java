package dev.tollgate.samples.torture.disk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskTest {
  private static final int SEEDS = 300;
  private static final Path ROOT = Path.of("");
  private static final Path FILE = Path.of("file");
  private static final Path NEXT = Path.of("next");

  @TempDir Path directory;

  private long sync;

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** A sync that succeeds, of what has been done so far. */
  private void sync(Disk disk, long handle) {
    disk.syncBegins(handle, ++sync);
    disk.syncEnded(handle, sync, true);
  }

  private void failedSync(Disk disk, long handle) {
    disk.syncBegins(handle, ++sync);
    disk.syncEnded(handle, sync, false);
  }

  /** Opens the directory as handle 1 and a file that is on the disk as handle 2. */
  private Disk withFile(String content) {
    Disk disk = new Disk();
    disk.opened(1, ROOT, false);
    disk.opened(2, FILE, true);
    disk.wrote(2, 0, bytes(content));
    sync(disk, 2);
    sync(disk, 1);
    return disk;
  }

  /** Makes another file as handle 3, and syncs nothing. */
  private static void writeNext(Disk disk) {
    disk.opened(3, NEXT, true);
    disk.wrote(3, 0, bytes("b"));
  }

  /** The first numbers of generators whose seeds are close to each other are close too. */
  private static Random unlike(long seed) {
    return new Random(new Random(seed).nextLong());
  }

  /** The content of the files by their names, after a cut. */
  private String after(Disk disk, Cut.Kind kind, long seed) throws IOException {
    disk.cut(kind, unlike(seed));
    disk.writeTo(directory);
    TreeMap<String, String> found = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        found.put(directory.relativize(file).toString(), Files.readString(file));
      }
    }
    return found.toString();
  }

  /** What is found after cuts of every kind, with many seeds. */
  private Set<String> outcomes(String content, Consumer<Disk> work) throws IOException {
    Set<String> found = new TreeSet<>();
    for (Cut.Kind kind : Cut.Kind.values()) {
      for (int seed = 0; seed < SEEDS / 10; seed++) {
        Disk disk = withFile(content);
        work.accept(disk);
        found.add(after(disk, kind, seed));
      }
    }
    return found;
  }

  @Test
  void whatIsSyncedIsThere() throws IOException {
    assertEquals(
        Set.of("{file=Ab}"),
        outcomes(
            "ab",
            disk -> {
              disk.wrote(2, 0, bytes("A"));
              sync(disk, 2);
            }));
  }

  @Test
  void whatIsNotSyncedMayBeThere() throws IOException {
    assertEquals(
        Set.of("{file=ab}", "{file=Ab}"), outcomes("ab", disk -> disk.wrote(2, 0, bytes("A"))));
  }

  @Test
  void lengthAndContentAreIndependent() throws IOException {
    assertEquals(
        Set.of("{file=ab}", "{file=abc}", "{file=ab\0}"),
        outcomes("ab", disk -> disk.wrote(2, 2, bytes("c"))));
  }

  @Test
  void syncCoversOnlyWhatWasWrittenBeforeItBegan() throws IOException {
    assertEquals(
        Set.of("{file=Ab}", "{file=AB}"),
        outcomes(
            "ab",
            disk -> {
              disk.wrote(2, 0, bytes("A"));
              disk.syncBegins(2, 77);
              disk.wrote(2, 1, bytes("B"));
              disk.syncEnded(2, 77, true);
            }));
  }

  @Test
  void syncThatHasNotEndedCoversNothing() throws IOException {
    assertEquals(
        Set.of("{file=ab}", "{file=Ab}"),
        outcomes(
            "ab",
            disk -> {
              disk.wrote(2, 0, bytes("A"));
              disk.syncBegins(2, 77);
            }));
  }

  @Test
  void afterASyncThatFailedAnotherOneCoversOnlyWhatIsWrittenAgain() throws IOException {
    assertEquals(
        Set.of("{file=ab}", "{file=Ab}"),
        outcomes(
            "ab",
            disk -> {
              disk.wrote(2, 0, bytes("A"));
              failedSync(disk, 2);
              sync(disk, 2);
            }));
    assertEquals(
        Set.of("{file=AB}"),
        outcomes(
            "ab",
            disk -> {
              disk.wrote(2, 0, bytes("A"));
              failedSync(disk, 2);
              disk.wrote(2, 1, bytes("B"));
              sync(disk, 2);
            }),
        "of the same page");
  }

  @Test
  void failedPageIsLostThoughAnotherOneIsWrittenAgain() throws IOException {
    String old = "a".repeat(Cut.PAGE) + "b".repeat(Cut.PAGE);
    String first = "A".repeat(Cut.PAGE) + "b".repeat(Cut.PAGE);
    String both = "A".repeat(Cut.PAGE) + "B".repeat(Cut.PAGE);
    Set<String> found =
        outcomes(
            old,
            disk -> {
              disk.wrote(2, 0, bytes(both));
              failedSync(disk, 2);
              disk.wrote(2, 0, bytes("A"));
              sync(disk, 2);
            });
    assertTrue(found.containsAll(Set.of("{file=" + first + "}", "{file=" + both + "}")));
    assertTrue(found.stream().allMatch(one -> one.startsWith("{file=" + "A".repeat(Cut.PAGE))));
  }

  @Test
  void everySetOfSectorsIsPossible() throws IOException {
    Set<String> found = new TreeSet<>();
    for (int seed = 0; seed < SEEDS; seed++) {
      Disk disk = withFile("-".repeat(3 * Cut.SECTOR));
      disk.wrote(2, 0, bytes("A".repeat(3 * Cut.SECTOR)));
      disk.wrote(2, Cut.SECTOR, bytes("B".repeat(Cut.SECTOR)));
      String after = after(disk, Cut.Kind.SECTORS, seed);
      StringBuilder sectors = new StringBuilder();
      for (int sector = 0; sector < 3; sector++) {
        String text = after.substring("{file=".length() + sector * Cut.SECTOR);
        assertEquals(1, text.substring(0, Cut.SECTOR).chars().distinct().count(), "no half sector");
        sectors.append(text.charAt(0));
      }
      found.add(sectors.toString());
    }
    assertEquals(2 * 3 * 2, found.size(), found.toString());
  }

  @Test
  void atOneMomentOnlyTheWriteOfThenIsTorn() throws IOException {
    Set<String> found = new TreeSet<>();
    for (int seed = 0; seed < SEEDS; seed++) {
      Disk disk = withFile("-".repeat(2 * Cut.SECTOR));
      disk.wrote(2, 0, bytes("A"));
      disk.wrote(2, Cut.SECTOR, bytes("B"));
      String after = after(disk, Cut.Kind.MOMENT, seed);
      int begin = "{file=".length();
      found.add(after.substring(begin, begin + 1) + after.charAt(begin + Cut.SECTOR));
    }
    assertEquals(Set.of("--", "A-", "AB"), found);
  }

  @Test
  void fileThatIsCutShorterHasZerosWhereItGrowsAgain() throws IOException {
    Set<String> found =
        outcomes(
            "abc",
            disk -> {
              disk.resized(2, 1);
              disk.resized(2, 3);
            });
    assertEquals(Set.of("{file=a\0\0}", "{file=abc}", "{file=a}"), found);
    assertEquals(
        Set.of("{file=a\0\0}"),
        outcomes(
            "abc",
            disk -> {
              disk.resized(2, 1);
              disk.resized(2, 3);
              sync(disk, 2);
            }));
  }

  @Test
  void fileIsShorterOnceThatIsSynced() throws IOException {
    assertEquals(
        Set.of("{file=a}"),
        outcomes(
            "abc",
            disk -> {
              disk.resized(2, 1);
              sync(disk, 2);
            }));
  }

  @Test
  void syncOfAFileDoesNotKeepItsName() throws IOException {
    Set<String> found =
        outcomes(
            "a",
            disk -> {
              writeNext(disk);
              sync(disk, 3);
            });
    assertEquals(Set.of("{file=a}", "{file=a, next=b}"), found);
  }

  @Test
  void renameHappensAsAWhole() throws IOException {
    Set<String> found =
        outcomes(
            "a",
            disk -> {
              writeNext(disk);
              sync(disk, 3);
              disk.renamed(NEXT, FILE);
            });
    assertEquals(Set.of("{file=a}", "{file=a, next=b}", "{file=b}"), found);
  }

  @Test
  void fileIsReplacedForSureIfContentAndNameAreSynced() throws IOException {
    assertEquals(
        Set.of("{file=b}"),
        outcomes(
            "a",
            disk -> {
              writeNext(disk);
              sync(disk, 3);
              disk.renamed(NEXT, FILE);
              sync(disk, 1);
            }));
    assertTrue(
        outcomes(
                "a",
                disk -> {
                  writeNext(disk);
                  disk.renamed(NEXT, FILE);
                  sync(disk, 1);
                })
            .contains("{file=}"),
        "without a sync of the content it may be empty");
  }

  @Test
  void removedFileIsThereUntilItsDirectoryIsSynced() throws IOException {
    assertEquals(Set.of("{file=a}", "{}"), outcomes("a", disk -> disk.removed(FILE)));
    assertEquals(
        Set.of("{}"),
        outcomes(
            "a",
            disk -> {
              disk.removed(FILE);
              sync(disk, 1);
            }));
  }

  @Test
  void renameIntoAnotherDirectoryIsKeptByThatOne() throws IOException {
    Path below = Path.of("below");
    Path moved = below.resolve("moved");
    Consumer<Disk> move =
        disk -> {
          disk.made(below);
          sync(disk, 1);
          disk.opened(3, below, false);
          disk.renamed(FILE, moved);
        };
    assertEquals(
        Set.of("{below/moved=a}"),
        outcomes(
            "a",
            disk -> {
              move.accept(disk);
              sync(disk, 3);
            }));
    assertEquals(
        Set.of("{below/moved=a}", "{file=a}"),
        outcomes(
            "a",
            disk -> {
              move.accept(disk);
              sync(disk, 1);
            }));
  }

  @Test
  void nameThatWasNeverSyncedIsGoneAfterARenameThatIsKept() throws IOException {
    Path below = Path.of("below");
    assertEquals(
        Set.of("{below/moved=, file=a}"),
        outcomes(
            "a",
            disk -> {
              disk.made(below);
              sync(disk, 1);
              disk.opened(3, below, false);
              disk.opened(4, NEXT, true);
              disk.renamed(NEXT, below.resolve("moved"));
              sync(disk, 3);
              sync(disk, 1);
            }));
  }

  @Test
  void syncOfADirectoryKeepsOnlyNamesFromBeforeItBegan() throws IOException {
    assertEquals(
        Set.of("{file=a}", "{file=a, next=}"),
        outcomes(
            "a",
            disk -> {
              disk.syncBegins(1, 77);
              disk.opened(3, NEXT, true);
              disk.syncEnded(1, 77, true);
            }));
  }

  @Test
  void namesAreKeptInTheOrderOfTheirChanges() throws IOException {
    Set<String> found =
        outcomes(
            "a",
            disk -> {
              disk.opened(3, NEXT, true);
              disk.renamed(NEXT, Path.of("last"));
              disk.removed(Path.of("last"));
            });
    assertEquals(Set.of("{file=a}", "{file=a, next=}", "{file=a, last=}"), found);
  }

  @Test
  void directoryWhoseNameIsLostIsLostWithAllThatIsInIt() throws IOException {
    Path below = Path.of("below");
    assertEquals(
        Set.of("{file=a}", "{below/next=b, file=a}"),
        outcomes(
            "a",
            disk -> {
              disk.made(below);
              disk.opened(3, below.resolve(NEXT), true);
              disk.wrote(3, 0, bytes("b"));
              sync(disk, 3);
              disk.opened(4, below, false);
              sync(disk, 4);
            }));
  }

  @Test
  void afterACutTheDiskGoesOnFromWhatItHolds() throws IOException {
    Disk disk = withFile("a");
    disk.wrote(2, 0, bytes("b"));
    disk.cut(Cut.Kind.NOTHING, unlike(1));
    disk.opened(5, FILE, false);
    disk.wrote(5, 1, bytes("c"));
    assertEquals("{file=ac}", after(disk, Cut.Kind.EVERYTHING, 1));
  }

  @Test
  void seedSaysAll() throws IOException {
    byte[] one = random(17);
    assertArrayEquals(one, random(17));
    assertTrue(!Arrays.equals(one, random(18)));
  }

  private byte[] random(long seed) throws IOException {
    Disk disk = withFile("-".repeat(64 * Cut.SECTOR));
    disk.wrote(2, 0, bytes("A".repeat(64 * Cut.SECTOR)));
    after(disk, Cut.Kind.SECTORS, seed);
    return Files.readAllBytes(directory.resolve(FILE));
  }
}
