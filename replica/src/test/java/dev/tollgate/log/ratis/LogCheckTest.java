package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.entry.CorruptLogException;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.seal.DirectoryKeys;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of a log whose names and entries do not fit each other. */
class LogCheckTest {
  @TempDir Path directory;

  /** Writes a segment with the entries of a term from one index to another. */
  private Path segment(String name, long term, long first, long last) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write("RaftLog1".getBytes(StandardCharsets.US_ASCII));
    for (long index = first; index <= last; index++) {
      out.write(LogTailTest.entry(term, index, 200));
    }
    return Files.write(directory.resolve(name), out.toByteArray());
  }

  private TermIndex check() throws IOException {
    return LogCheck.run(directory, null, clear()).last();
  }

  private void assertDamaged(Path segment, String how) {
    CorruptLogException damaged = assertThrows(CorruptLogException.class, this::check);
    assertEquals(
        "its log is damaged in "
            + segment
            + " ("
            + how
            + "). Check the disk, and then seed the node anew from the leader, with `tollgate"
            + " reseed`",
        damaged.getMessage());
  }

  @Test
  void lastEntryOfAWholeLogIsFound() throws IOException {
    assertNull(check());
    Path open = segment("log_inprogress_7", 1, 7, 6);
    assertNull(check());
    segment("log_0-3", 1, 0, 3);
    segment("log_4-6", 2, 4, 6);
    assertEquals(TermIndex.valueOf(2, 6), check());
    segment("log_inprogress_7", 3, 7, 9);
    assertEquals(TermIndex.valueOf(3, 9), check());
    Files.write(open, new byte[100], StandardOpenOption.APPEND);
    assertEquals(TermIndex.valueOf(3, 9), check(), "with room that is reserved");
  }

  @Test
  void onlyTheLastSegmentIsOpen() throws IOException {
    Path open = segment("log_inprogress_0", 1, 0, 3);
    segment("log_inprogress_4", 1, 4, 4);
    assertDamaged(open, "it is not closed, and others follow");
  }

  @Test
  void nameSaysWhichEntryIsTheLast() throws IOException {
    segment("log_inprogress_4", 1, 4, 4);
    assertDamaged(segment("log_0-3", 1, 0, 2), "it ends with entry 2");
    assertDamaged(segment("log_0-3", 1, 0, -1), "it ends with entry -1");
  }

  /** Ratis syncs no segment that it has cut, and a power cut may leave the former content. */
  @Test
  void whatWasCutOffIsCutOffAgain() throws IOException {
    byte[] cut = Files.readAllBytes(segment("log_0-3", 1, 0, 3));
    Path longer = segment("log_0-3", 1, 0, 5);
    assertEquals(TermIndex.valueOf(1, 3), check());
    assertArrayEquals(cut, Files.readAllBytes(longer));
    Path next = segment("log_inprogress_4", 2, 4, 6);
    Files.write(longer, new byte[] {1, 2, 3}, StandardOpenOption.APPEND);
    assertEquals(TermIndex.valueOf(2, 6), check(), "with part of an entry");
    assertArrayEquals(cut, Files.readAllBytes(longer));
    Files.delete(next);
    byte[] whole = Files.readAllBytes(segment("log_0-3", 1, 0, 5));
    assertDamaged(segment("log_inprogress_6", 2, 6, 6), "the file before it ends with entry 3");
    assertArrayEquals(whole, Files.readAllBytes(longer), "nothing is cut off a damaged log");
  }

  /** Ratis takes a header that ends with zeros for that of a file without entries. */
  @Test
  void fileWhoseHeaderWasAlteredIsDamaged() throws IOException {
    for (String name : List.of("log_0-3", "log_inprogress_0")) {
      Path segment = segment(name, 1, 0, 3);
      byte[] content = Files.readAllBytes(segment);
      for (int first = 0; first < 8; first++) {
        byte[] altered = content.clone();
        altered[first] ^= 1;
        Files.write(segment, altered);
        assertDamaged(segment, "entry 0 at byte 0 is not whole");
        Arrays.fill(altered, first, 8, (byte) 0);
        Files.write(segment, altered);
        assertDamaged(segment, "entry 0 at byte 0 is not whole");
      }
      Files.delete(segment);
    }
  }

  @Test
  void nameSaysWhichEntryIsTheFirst() throws IOException {
    assertDamaged(segment("log_2-3", 1, 3, 4), "entry 3 is in the place of 2");
  }

  @Test
  void filesFollowEachOther() throws IOException {
    segment("log_0-3", 1, 0, 3);
    Path after = segment("log_inprogress_5", 1, 5, 6);
    assertDamaged(after, "the file before it ends with entry 3");
    Files.delete(after);
    assertDamaged(segment("log_3-5", 1, 3, 5), "the file before it ends with entry 3");
  }

  @Test
  void termsDoNotFall() throws IOException {
    segment("log_0-3", 2, 0, 3);
    assertDamaged(
        segment("log_inprogress_4", 1, 4, 4), "entry 4 is of term 1, and the one before of term 2");
  }

  @Test
  void entryThatWasAlteredIsNamed() throws IOException {
    Path closed = segment("log_0-3", 1, 0, 3);
    byte[] content = Files.readAllBytes(closed);
    content[content.length - 100] ^= 1;
    Files.write(closed, content);
    assertDamaged(
        closed, "entry 3 at byte " + (8 + 3 * (content.length - 8) / 4) + " is not whole");
  }

  /** The leader had another entry there, so nothing of the log is right. */
  @Test
  void logWithAnotherEntryWhereTheSnapshotEndsIsOverruled() throws IOException {
    segment("log_0-3", 1, 0, 3);
    segment("log_inprogress_4", 2, 4, 6);
    for (TermIndex same :
        List.of(TermIndex.valueOf(1, 3), TermIndex.valueOf(2, 4), TermIndex.valueOf(9, 7))) {
      assertFalse(LogCheck.run(directory, same, clear()).overruled(), same::toString);
    }
    assertTrue(LogCheck.run(directory, TermIndex.valueOf(2, 3), clear()).overruled());
    assertTrue(LogCheck.run(directory, TermIndex.valueOf(3, 6), clear()).overruled());
  }

  private SealedEntries clear() {
    return new SealedEntries(DirectoryKeys.off(), directory);
  }
}
