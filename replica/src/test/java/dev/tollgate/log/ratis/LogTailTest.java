package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ends of logs, as Ratis reads them afterwards. */
class LogTailTest {
  private static final int ROOM = 100;

  @TempDir Path directory;
  private Path segment;
  private byte[] first;
  private byte[] whole;

  @BeforeEach
  void makeEntries() throws IOException {
    segment = directory.resolve("log_inprogress_7");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write("RaftLog1".getBytes(StandardCharsets.US_ASCII));
    out.write(entry(7));
    first = out.toByteArray();
    out.write(entry(8));
    whole = out.toByteArray();
  }

  /** More than 127 bytes, so that the length takes two. */
  private static byte[] entry(long index) throws IOException {
    ByteString data = ByteString.copyFrom("x".repeat(200), StandardCharsets.US_ASCII);
    LogEntryProto entry =
        LogEntryProto.newBuilder()
            .setTerm(1)
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
      LogTail.writeAgain(directory);
      assertEquals(1, entries(), "with " + written + " bytes written");
    }
  }

  @Test
  void wholeEntriesStay() throws IOException {
    Files.write(segment, Arrays.copyOf(whole, whole.length + ROOM));
    LogTail.writeAgain(directory);
    assertEquals(2, entries());
  }

  @Test
  void fileThatEndsWithinAnEntryIsLeftToRatis() throws IOException {
    Files.write(segment, Arrays.copyOf(whole, whole.length - 20));
    LogTail.writeAgain(directory);
    assertEquals(1, entries());
  }

  @Test
  void damageStaysDamage() throws IOException {
    for (int place = 20; place < whole.length; place += 30) {
      byte[] damaged = Arrays.copyOf(whole, whole.length + ROOM);
      damaged[place] ^= 4;
      Files.write(segment, damaged);
      LogTail.writeAgain(directory);
      assertArrayEquals(damaged, Files.readAllBytes(segment), "at " + place);
    }
  }

  @Test
  void closedSegmentIsNotTouched() throws IOException {
    byte[] unfinished = Arrays.copyOf(Arrays.copyOf(whole, whole.length - 20), whole.length + ROOM);
    Path closed = directory.resolve("log_7-8");
    Files.write(closed, unfinished);
    LogTail.writeAgain(directory);
    assertArrayEquals(unfinished, Files.readAllBytes(closed));
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
