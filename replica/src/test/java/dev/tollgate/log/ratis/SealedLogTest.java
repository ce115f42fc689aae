package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.entry.CorruptLogException;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.DirectoryKeys;
import dev.tollgate.seal.EntrySeal;
import dev.tollgate.seal.TestKeys;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A log whose entries are encrypted, as it is written, cut off, damaged, and read again. */
@Timeout(120)
class SealedLogTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final String SECRET = "secret-of-the-log";
  private static final byte[] HEADER = "RaftLog1".getBytes(StandardCharsets.US_ASCII);

  @TempDir Path directory;

  private RecordingConsumer consumer;

  private RatisLog open(DataKeys keys) throws IOException {
    consumer = new RecordingConsumer();
    RatisLog log = new RatisLog(RaftSettings.alone("n1", directory).withKeys(keys), consumer);
    try {
      log.start();
    } catch (IOException | RuntimeException e) {
      log.close();
      throw e;
    }
    return log;
  }

  private RatisLog start(DataKeys keys) throws IOException {
    RatisLog log = open(keys);
    await().atMost(DEADLINE).until(consumer.leading::get);
    return log;
  }

  private static void append(RatisLog log, String what) throws Exception {
    log.append(RatisNodes.entry(what)).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  private void write(DataKeys keys, String... entries) throws Exception {
    try (RatisLog log = start(keys)) {
      for (String what : entries) {
        append(log, what);
      }
    }
  }

  private void expect(DataKeys keys, String... entries) throws Exception {
    try (RatisLog log = start(keys)) {
      await().atMost(DEADLINE).until(() -> consumer.commands.size() == entries.length);
      assertEquals(
          Arrays.stream(entries).map(RatisNodes::command).toList(), List.copyOf(consumer.commands));
      assertTrue(log.status().lastAppliedIndex() >= 0);
    }
  }

  private Path logDirectory() {
    return RatisLog.groupDirectory(directory).resolve("current");
  }

  private List<Path> segments() throws IOException {
    List<Path> segments = new ArrayList<>(Snapshots.segments(logDirectory()));
    segments.sort((a, b) -> Long.compare(Snapshots.firstIndex(a), Snapshots.firstIndex(b)));
    return segments;
  }

  private boolean logHas(String text) throws IOException {
    boolean found = false;
    for (Path segment : segments()) {
      found |= new String(Files.readAllBytes(segment), StandardCharsets.ISO_8859_1).contains(text);
    }
    return found;
  }

  private static DirectoryKeys keys(String... ids) throws IOException {
    return new DirectoryKeys(TestKeys.of(ids), "a directory");
  }

  @Test
  void entriesAreReadableWithoutKeys() throws Exception {
    write(DataKeys.off(), SECRET);
    assertTrue(logHas(SECRET));
  }

  @Test
  void entriesAreNotReadableWithKeys() throws Exception {
    write(TestKeys.of("k1"), SECRET);
    write(TestKeys.of("k2", "k1"), SECRET);
    assertFalse(logHas(SECRET));
    expect(TestKeys.of("k1", "k2"), SECRET, SECRET);
  }

  private String refusal(DataKeys keys) {
    return assertThrows(IOException.class, () -> open(keys)).getMessage();
  }

  @Test
  void nodeDoesNotStartWithoutTheKeyOfItsLog() throws Exception {
    write(TestKeys.of("k1"), "a");
    DataKeys other = TestKeys.of("k2");
    DataKeys impostor = TestKeys.impostor("k1");
    String off = refusal(DataKeys.off());
    assertTrue(off.contains("data key 'k1'") && off.contains("--data-key-file"), off);
    assertTrue(refusal(other).contains("none of the data keys [k2]"));
    assertTrue(refusal(impostor).contains("another data key 'k1'"));
    expect(TestKeys.of("k1"), "a");
  }

  /** With a checksum that fits, as somebody makes who wants to. */
  private void change(Change change) throws IOException {
    for (Path segment : segments()) {
      List<LogEntryProto> entries = new ArrayList<>();
      LogTail.read(segment, bytes -> entries.add(LogEntryProto.parseFrom(bytes)));
      if (change.make(entries)) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(HEADER);
        for (LogEntryProto entry : entries) {
          out.write(framed(entry));
        }
        Files.write(segment, out.toByteArray());
      }
    }
  }

  private interface Change {
    boolean make(List<LogEntryProto> entries);
  }

  private static byte[] framed(LogEntryProto entry) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    entry.writeDelimitedTo(bytes);
    CRC32C checksum = new CRC32C();
    checksum.update(bytes.toByteArray());
    new DataOutputStream(bytes).writeInt((int) checksum.getValue());
    return bytes.toByteArray();
  }

  private static LogEntryProto with(LogEntryProto entry, ByteString payload) {
    return entry.toBuilder()
        .setStateMachineLogEntry(entry.getStateMachineLogEntry().toBuilder().setLogData(payload))
        .build();
  }

  private static ByteString payload(LogEntryProto entry) {
    return entry.getStateMachineLogEntry().getLogData();
  }

  private String failureOfAStart() throws Exception {
    try (RatisLog log = open(TestKeys.of("k1"))) {
      await().atMost(DEADLINE).until(() -> !consumer.failures.isEmpty());
      assertTrue(log.status().lastAppliedIndex() >= -1);
    } catch (IOException | CorruptLogException e) {
      return String.valueOf(e.getMessage());
    }
    return String.valueOf(consumer.failures.get(0).getMessage());
  }

  @Test
  void exchangedEntriesStopTheNode() throws Exception {
    write(TestKeys.of("k1"), "first", "other");
    change(
        entries -> {
          List<Integer> sealed = new ArrayList<>();
          for (int i = 0; i < entries.size(); i++) {
            if (SealedEntries.isSealed(entries.get(i))) {
              sealed.add(i);
            }
          }
          if (sealed.size() < 2) {
            return false;
          }
          LogEntryProto a = entries.get(sealed.get(0));
          LogEntryProto b = entries.get(sealed.get(1));
          entries.set(sealed.get(0), with(a, payload(b)));
          entries.set(sealed.get(1), with(b, payload(a)));
          return true;
        });
    String why = failureOfAStart();
    assertTrue(why.contains("data key 'k1'") && why.contains("log_"), why);
    assertTrue(why.contains("tollgate reseed"), why);
  }

  @Test
  void entryThatIsNotEncryptedStopsTheStart() throws Exception {
    write(TestKeys.of("k1"), "first", "other");
    change(
        entries -> {
          int last = entries.size() - 1;
          entries.set(last, with(entries.get(last), ByteString.copyFromUtf8("forged")));
          return true;
        });
    assertTrue(failureOfAStart().contains("is not encrypted"));
  }

  private static byte[] log(SealedEntries sealed, int count) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(HEADER);
    for (int index = 0; index < count; index++) {
      byte[] framed = LogTailTest.entry(index, 200);
      LogEntryProto entry = LogEntryProto.parseDelimitedFrom(new ByteArrayInputStream(framed));
      out.write(framed(sealed.seal(entry)));
    }
    return out.toByteArray();
  }

  /** As after a power cut: what was not synced is missing, and its place is zeros. */
  @Test
  void tornEncryptedEntryIsCutOffWhereverItEnds() throws IOException {
    SealedEntries sealed = new SealedEntries(keys("k1"), directory);
    byte[] whole = log(sealed, 3);
    Path segment = directory.resolve("log_inprogress_0");
    Files.write(segment, whole);
    assertEquals(whole.length, LogTail.read(segment, entry -> {}).bytes());
    int two = log(new SealedEntries(keys("k1"), directory), 2).length;
    for (int end = two + 1; end < whole.length; end++) {
      Files.write(segment, Arrays.copyOf(Arrays.copyOf(whole, end), whole.length + 100));
      LogTail.writeAgain(directory, OptionalLong.of(1));
      assertEquals(
          TermIndex.valueOf(1, 1),
          LogCheck.run(directory, null, sealed).last(),
          "cut off at byte " + end);
    }
  }

  @Test
  void damageBeforeTheTornEntryIsDamage() throws IOException {
    SealedEntries sealed = new SealedEntries(keys("k1"), directory);
    byte[] whole = log(sealed, 3);
    whole[HEADER.length + 100] ^= 1;
    Files.write(directory.resolve("log_inprogress_0"), whole);
    LogTail.writeAgain(directory, OptionalLong.of(1));
    assertThrows(CorruptLogException.class, () -> LogCheck.run(directory, null, sealed));
  }

  @Test
  void keysInUseFollowTheLog() throws IOException {
    SealedEntries old = new SealedEntries(keys("k1"), directory);
    Files.write(directory.resolve("log_inprogress_0"), log(old, 3));
    SealedEntries rotated = new SealedEntries(keys("k2", "k1"), directory);
    LogCheck.run(directory, null, rotated);
    LogEntryProto next =
        LogEntryProto.parseDelimitedFrom(new ByteArrayInputStream(LogTailTest.entry(3, 10)));
    assertTrue(EntrySeal.isSealed(ByteBuffer.wrap(payload(rotated.seal(next)).toByteArray())));
    assertEquals("{k1=2, k2=3}", rotated.inUse(0).toString());
    assertEquals("{k1=2, k2=3}", rotated.inUse(2).toString());
    assertEquals("{k2=3}", rotated.inUse(3).toString());
  }
}
