package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.entry.CorruptLogException;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ends of logs, as Ratis reads them afterwards. */
class LogTailTest {
  private static final int ROOM = 100;
  private static final int LARGE_ROOM = 70_000;
  private static final OptionalLong NO_RECORD = OptionalLong.empty();
  private static final OptionalLong EARLIER = OptionalLong.of(6);

  @TempDir Path directory;
  private Path segment;
  private byte[] first;
  private byte[] whole;

  @BeforeEach
  void makeEntries() throws IOException {
    segment = directory.resolve("log_inprogress_7");
    // more than 127 bytes, so that the length takes two
    first = log(7, 200);
    whole = log(7, 200, 200);
  }

  /** Returns a segment with entries of some sizes. */
  private static byte[] log(long index, int... sizes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write("RaftLog1".getBytes(StandardCharsets.US_ASCII));
    for (int i = 0; i < sizes.length; i++) {
      out.write(entry(index + i, sizes[i]));
    }
    return out.toByteArray();
  }

  static byte[] entry(long index, int size) throws IOException {
    return entry(1, index, size);
  }

  static byte[] entry(long term, long index, int size) throws IOException {
    ByteString data = ByteString.copyFrom("x".repeat(size), StandardCharsets.US_ASCII);
    LogEntryProto entry =
        LogEntryProto.newBuilder()
            .setTerm(term)
            .setIndex(index)
            .setStateMachineLogEntry(StateMachineLogEntryProto.newBuilder().setLogData(data))
            .build();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    entry.writeDelimitedTo(bytes);
    CRC32C checksum = new CRC32C();
    checksum.update(bytes.toByteArray());
    new DataOutputStream(bytes).writeInt((int) checksum.getValue());
    return bytes.toByteArray();
  }

  @Test
  void entryThatWasNotFinishedIsCutOffWhereverThatWas() throws IOException {
    for (int written = first.length; written < whole.length; written++) {
      Files.write(segment, Arrays.copyOf(Arrays.copyOf(whole, written), whole.length + ROOM));
      if (written > first.length) {
        assertThrows(IOException.class, this::entries, "Ratis alone, " + written);
      }
      LogTail.writeAgain(directory, OptionalLong.empty());
      assertEquals(1, entries(), "with " + written + " bytes written");
    }
  }

  @Test
  void wholeEntriesStay() throws IOException {
    Files.write(segment, Arrays.copyOf(whole, whole.length + ROOM));
    LogTail.writeAgain(directory, OptionalLong.empty());
    assertEquals(2, entries());
  }

  @Test
  void fileThatEndsWithinAnEntryThatWasNeverSyncedIsCut() throws IOException {
    for (OptionalLong synced : List.of(OptionalLong.empty(), OptionalLong.of(7))) {
      Files.write(segment, Arrays.copyOf(whole, whole.length - 20));
      LogTail.writeAgain(directory, synced);
      assertArrayEquals(first, Files.readAllBytes(segment), "synced: " + synced);
    }
  }

  /** Ratis would ignore that entry, and the log would go on after the one before. */
  @Test
  void fileThatEndsWithinAnEntryThatWasSyncedIsDamaged() throws IOException {
    byte[] shortened = Arrays.copyOf(whole, whole.length - 20);
    Files.write(segment, shortened);
    CorruptLogException damaged =
        assertThrows(
            CorruptLogException.class, () -> LogTail.writeAgain(directory, OptionalLong.of(8)));
    assertTrue(
        damaged
            .getMessage()
            .startsWith(
                "its log is damaged in "
                    + segment
                    + " (entry 8 at byte "
                    + first.length
                    + " was synced, and is not whole)"),
        damaged.getMessage());
    assertArrayEquals(shortened, Files.readAllBytes(segment));
  }

  /** The same missing bytes are damage once the entry was synced. */
  @Test
  void unfinishedEntryThatWasSyncedStays() throws IOException {
    Files.write(segment, Arrays.copyOf(Arrays.copyOf(whole, whole.length - 20), 4_096));
    assertThrows(
        CorruptLogException.class, () -> LogTail.writeAgain(directory, OptionalLong.of(8)));
    assertThrows(IOException.class, this::entries);
  }

  /** A power cut leaves any sectors of what was not synced, here those of several entries. */
  @ParameterizedTest
  @ValueSource(ints = {512, 4_096})
  void entryWithASectorThatWasNeverWrittenIsCutOff(int hole) throws IOException {
    byte[] log = log(7, 3_000, 5_000, 3_000, 200);
    int second = log(7, 3_000).length;
    int third = log(7, 3_000, 5_000).length;
    for (int place = second - second % 512; place < third; place += 512) {
      byte[] torn = Arrays.copyOf(log, log.length + ROOM);
      // entry 7 was synced before
      Arrays.fill(
          torn,
          Math.max(second, place - place % hole),
          Math.min(place - place % hole + hole, torn.length),
          (byte) 0);
      Files.write(segment, torn);
      assertThrows(IOException.class, this::entries, "Ratis alone, " + place);
      LogTail.writeAgain(directory, OptionalLong.of(7));
      assertArrayEquals(
          Arrays.copyOf(log, second), Files.readAllBytes(segment), "a hole at " + place);
    }
  }

  @Test
  void sectorThatIsMissingInWhatWasSyncedIsDamage() throws IOException {
    byte[] log = log(7, 3_000, 5_000, 3_000);
    for (OptionalLong synced :
        List.of(OptionalLong.of(8), OptionalLong.of(9), OptionalLong.empty())) {
      byte[] damaged = Arrays.copyOf(log, log.length + ROOM);
      Arrays.fill(damaged, 4_096, 4_608, (byte) 0);
      Files.write(segment, damaged);
      LogTail.writeAgain(directory, synced);
      assertArrayEquals(damaged, Files.readAllBytes(segment), "synced: " + synced);
    }
  }

  /**
   * Each bit, in a file with one of the sizes and one of the records of what was synced. A power
   * cut may leave an earlier record.
   */
  @Test
  void changedBitIsDamageWhereverThatIs() throws IOException {
    for (int bit = Byte.SIZE * "RaftLog1".length(); bit < Byte.SIZE * whole.length; bit++) {
      requireDamage(
          bit, bit % 2 == 0 ? ROOM : LARGE_ROOM, bit / Byte.SIZE % 2 == 0 ? NO_RECORD : EARLIER);
    }
  }

  @Tag("nightly")
  @ParameterizedTest
  @ValueSource(ints = {ROOM, LARGE_ROOM})
  void changedBitIsDamageInFilesOfAllKinds(int reserved) throws IOException {
    for (OptionalLong synced : List.of(NO_RECORD, EARLIER)) {
      for (int bit = Byte.SIZE * "RaftLog1".length(); bit < Byte.SIZE * whole.length; bit++) {
        requireDamage(bit, reserved, synced);
      }
    }
  }

  private void requireDamage(int bit, int reserved, OptionalLong synced) throws IOException {
    byte[] damaged = Arrays.copyOf(whole, whole.length + reserved);
    damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
    Files.write(segment, damaged);
    LogTail.writeAgain(directory, synced);
    assertEquals(
        -1, Arrays.mismatch(damaged, Files.readAllBytes(segment)), "bit " + bit + ", " + synced);
  }

  @Test
  void lastEntryIsTheLastWholeOneOfAnySegment() throws IOException {
    assertEquals(-1, LogTail.lastEntryOf(directory.resolve("none")));
    assertEquals(-1, LogTail.lastEntryOf(directory));
    Files.write(directory.resolve("log_0-6"), whole);
    assertEquals(6, LogTail.lastEntryOf(directory));
    Files.write(segment, Arrays.copyOf(whole, whole.length + ROOM));
    assertEquals(8, LogTail.lastEntryOf(directory));
    Files.write(segment, Arrays.copyOf(whole, whole.length - 20));
    assertEquals(7, LogTail.lastEntryOf(directory));
  }

  @Test
  void closedSegmentIsNotTouched() throws IOException {
    byte[] unfinished = Arrays.copyOf(Arrays.copyOf(whole, whole.length - 20), whole.length + ROOM);
    Path closed = directory.resolve("log_7-8");
    Files.write(closed, unfinished);
    LogTail.writeAgain(directory, OptionalLong.empty());
    assertArrayEquals(unfinished, Files.readAllBytes(closed));
  }

  @Test
  void segmentsBeforeAGapAreRemovedIfTheSnapshotCoversTheGap() throws IOException {
    List<Path> before = List.of(directory.resolve("log_0-3"), directory.resolve("log_4-7"));
    List<Path> after = List.of(directory.resolve("log_12-15"), directory.resolve("log_16-19"));
    for (Path segment : List.of(before.get(0), before.get(1), after.get(0), after.get(1))) {
      Files.write(segment, new byte[1]);
    }
    LogTail.removeCovered(directory, 10);
    assertTrue(before.stream().allMatch(Files::exists), "entry 11 is missing");
    LogTail.removeCovered(directory, 11);
    assertTrue(before.stream().noneMatch(Files::exists));
    assertTrue(after.stream().allMatch(Files::exists));
  }

  private int entries() throws IOException {
    return LogSegment.readSegmentFile(
        segment.toFile(),
        LogSegmentPath.matchLogSegment(segment).getStartEnd(),
        SizeInBytes.valueOf("1MB"),
        RaftServerConfigKeys.Log.CorruptionPolicy.EXCEPTION,
        null,
        null);
  }
}
