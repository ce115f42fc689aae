package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.WholeFile;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordingStream;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a node reads when it starts may never have been synced by the process before. */
class StartSyncTest {
  private static final String LOCK = "in_use.lock";

  @TempDir private Path directory;

  @BeforeEach
  void runOnce() throws Exception {
    try (Running node = new Running()) {
      node.perform("before");
    }
  }

  private final class Running implements AutoCloseable {
    final RecordingConsumer consumer = new RecordingConsumer();
    final RatisLog log;

    Running() throws IOException {
      this(directory);
    }

    Running(Path directory) throws IOException {
      log = new RatisLog(RaftSettings.alone("n1", directory), consumer);
      try {
        log.start();
      } catch (IOException e) {
        log.close();
        throw e;
      }
    }

    void perform(String what) throws Exception {
      Awaitility.await().untilTrue(consumer.leading);
      log.append(EntryBytes.untimed(LoneFollower.command(what))).get(30, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
      log.close();
    }
  }

  private Path segment() throws IOException {
    return segment(directory);
  }

  private static Path segment(Path directory) throws IOException {
    return Snapshots.segments(RatisLog.groupDirectory(directory).resolve("current")).stream()
        .filter(file -> file.getFileName().toString().startsWith("log_inprogress_"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void allThatWasReadIsSyncedBeforeTheNodeServes() throws Exception {
    Set<Path> read;
    try (Stream<Path> all = Files.walk(directory)) {
      read =
          all.filter(file -> !file.getFileName().toString().equals(LOCK))
              .filter(file -> !file.getFileName().toString().startsWith("log_inprogress_"))
              .collect(TreeSet::new, Set::add, Set::addAll);
    }
    assertTrue(read.stream().anyMatch(file -> file.endsWith("vote")), read::toString);
    assertTrue(read.stream().anyMatch(file -> file.endsWith("identity")), read::toString);
    try (RecordedForces forces = new RecordedForces();
        Running node = new Running()) {
      assertEquals("n1", node.log.status().nodeId());
      read.removeAll(forces.in(directory));
    }
    assertEquals(Set.of(), read, "was read, and not synced");
  }

  /** A page whose sync has failed once counts as clean: another sync would write nothing. */
  @Test
  void tailIsWrittenAgainAndNotOnlySynced() throws Exception {
    Path tail = segment();
    Object file = Files.getAttribute(tail, "unix:ino");
    try (RecordedForces forces = new RecordedForces();
        Running node = new Running()) {
      assertTrue(
          forces.in(directory).contains(tail.resolveSibling("tail.tmp")), "a new file is synced");
      for (Path now : Snapshots.segments(tail.resolveSibling(""))) {
        assertNotEquals(file, Files.getAttribute(now, "unix:ino"), now + " is the file of before");
      }
      node.perform("after");
      assertEquals(2, node.consumer.commands.size());
    }
  }

  @Test
  void nodeWhoseTailCannotBeWrittenAgainDoesNotStart() throws Exception {
    Path tail = segment();
    byte[] content = Files.readAllBytes(tail);
    Path inTheWay = Files.createDirectory(tail.resolveSibling("tail.tmp"));
    IOException refused = assertThrows(IOException.class, Running::new);
    assertTrue(
        refused
            .getMessage()
            .startsWith(
                "node n1 does not start, because its disk does not take what the node has read"
                    + " there ("),
        refused.getMessage());
    assertEquals(-1, Arrays.mismatch(content, Files.readAllBytes(tail)));
    Files.delete(inTheWay);
    try (Running node = new Running()) {
      node.perform("after");
      assertEquals(2, node.consumer.commands.size());
    }
  }

  /** A leader begins a segment, which is another name in the directory. */
  @Test
  void nameOfASegmentIsSyncedBeforeItsFirstEntry() throws Exception {
    Path log = segment().resolveSibling("");
    List<Path> forced;
    try (RecordedForces forces = new RecordedForces();
        Running node = new Running()) {
      node.perform("after");
      forced = forces.in(directory);
    }
    Path begun = segment();
    int header = forced.indexOf(begun);
    assertTrue(header >= 0, forced::toString);
    List<Path> later = forced.subList(header + 1, forced.size());
    assertTrue(later.contains(begun), forced::toString);
    assertTrue(
        later.subList(0, later.indexOf(begun)).contains(log),
        "the directory is synced between the header and the first entry: " + forced);
  }

  /** Its vote is there, so it might elect a leader without the entries that it once had. */
  @Test
  void nodeThatHasLostWhatItHadAppliedDoesNotStart() throws Exception {
    Path identity = directory.resolve("identity");
    String known = WholeFile.read(identity);
    assertTrue(known.contains("log-index=0"), known);
    WholeFile.write(identity, known.replace("log-index=0", "log-index=7"));
    StrangerException refused = assertThrows(StrangerException.class, Running::new);
    assertEquals(
        "node n1 has lost entries: its log in "
            + RatisLog.groupDirectory(directory)
            + " ends with entry 1, and the node has had entry 7. ",
        refused.getMessage().substring(0, refused.getMessage().indexOf("A node without")));
    WholeFile.write(identity, known.replace("log-index=0", "log-index=1"));
    new Running().close();
  }

  /**
   * As a power cut leaves it, on all nodes at once perhaps: nobody would be left to reseed from.
   */
  @Test
  void entryThatWasTornBeforeItsSyncIsCutOff() throws Exception {
    Path tail = segment();
    byte[] torn = LogTailTest.entry(2, 3_000);
    Arrays.fill(torn, 1_000, 2_000, (byte) 0);
    Files.write(tail, torn, StandardOpenOption.APPEND);
    Files.write(tail, new byte[5_000], StandardOpenOption.APPEND);
    try (Running node = new Running()) {
      node.perform("after");
      assertEquals(2, node.consumer.commands.size());
    }
  }

  @Test
  void entryThatIsTornAfterItsSyncIsDamage() throws Exception {
    try (Running node = new Running()) {
      node.perform("x".repeat(3_000));
    }
    Path tail = segment();
    byte[] damaged = Files.readAllBytes(tail);
    Arrays.fill(damaged, damaged.length - 2_000, damaged.length - 1_000, (byte) 0);
    Files.write(tail, damaged);
    IOException refused = assertThrows(IOException.class, Running::new);
    assertTrue(
        refused.getMessage().startsWith("node n1 does not start, because its log is damaged in "),
        refused.getMessage());
    assertEquals(-1, Arrays.mismatch(damaged, Files.readAllBytes(tail)));
  }

  /** What is left of a process that was killed while it had nothing to do. */
  private Path killed(Path copy) throws Exception {
    try (Running node = new Running()) {
      node.perform("x".repeat(3_000));
      try (Stream<Path> all = Files.walk(directory)) {
        for (Path file : all.toList()) {
          if (!file.getFileName().toString().equals(LOCK)) {
            Files.copy(file, copy.resolve(directory.relativize(file).toString()));
          }
        }
      }
    }
    return copy;
  }

  /** A sync is known of as soon as it is acknowledged, not from the next one on. */
  @Test
  void acknowledgedEntryOfAKilledNodeIsNotTakenForATornOne(@TempDir Path copies) throws Exception {
    Path copy = killed(copies.resolve("killed"));
    Path tail = segment(copy);
    byte[] content = Files.readAllBytes(tail);
    int end = content.length;
    while (content[end - 1] == 0) {
      end--;
    }
    Map<String, UnaryOperator<byte[]>> damages = new TreeMap<>();
    int last = end - Integer.BYTES;
    damages.put("its checksum is gone", bytes -> zeros(bytes, last, last + Integer.BYTES));
    damages.put("a sector is gone", bytes -> zeros(bytes, last - 1_500, last - 500));
    for (Map.Entry<String, UnaryOperator<byte[]>> damage : damages.entrySet()) {
      Files.write(tail, damage.getValue().apply(content.clone()));
      IOException refused =
          assertThrows(IOException.class, () -> new Running(copy), damage.getKey());
      assertTrue(
          refused.getMessage().contains("its log is damaged in "),
          damage.getKey() + ": " + refused.getMessage());
    }
    Files.write(tail, content);
    try (Running node = new Running(copy)) {
      node.perform("after");
      assertEquals(3, node.consumer.commands.size());
    }
  }

  private static byte[] zeros(byte[] bytes, int from, int to) {
    Arrays.fill(bytes, from, to, (byte) 0);
    return bytes;
  }

  /** A power cut would leave an earlier record otherwise, of a node that has nothing to do. */
  @Test
  void recordOfTheLastSyncIsSyncedWithoutAnotherEntry() throws Exception {
    Path record = RatisLog.groupDirectory(directory).resolve("synced");
    Queue<Path> forced = new ConcurrentLinkedQueue<>();
    try (RecordingStream stream = new RecordingStream();
        Running node = new Running()) {
      stream.enable("jdk.FileForce").withoutThreshold();
      stream.onEvent(event -> forced.add(Path.of(event.getString("path"))));
      node.perform("after");
      stream.startAsync();
      Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> forced.contains(record));
    }
  }

  /** Ratis would ignore that entry, and the log would go on after the one before. */
  @Test
  void syncedEntryWhoseEndIsGoneIsDamage() throws Exception {
    Path tail = segment();
    byte[] damaged = Files.readAllBytes(tail);
    Files.write(tail, Arrays.copyOf(damaged, damaged.length - 1));
    IOException refused = assertThrows(IOException.class, Running::new);
    assertTrue(
        refused.getMessage().startsWith("node n1 does not start: its log is damaged in "),
        refused.getMessage());
  }

  @Test
  void nodeWhoseLastSyncedEntryIsGoneDoesNotStart() throws Exception {
    Path tail = segment();
    byte[] log = Files.readAllBytes(tail);
    InputStream in = new ByteArrayInputStream(log);
    in.skipNBytes("RaftLog1".length());
    LogEntryProto.parseDelimitedFrom(in);
    in.skipNBytes(Integer.BYTES);
    Files.write(tail, Arrays.copyOf(log, log.length - in.available()));
    StrangerException refused = assertThrows(StrangerException.class, Running::new);
    assertTrue(
        refused.getMessage().contains(" ends with entry 0, and the node has had entry 1"),
        refused.getMessage());
  }

  /** Its leader may cut entries off that it has synced. */
  @Test
  void whatIsKnownToBeSyncedFollowsALogThatIsCut() throws Exception {
    Path follower = directory.resolve("follower");
    try (LoneFollower node = new LoneFollower(follower, RaftSettings.SNAPSHOT_LOG_BYTES)) {
      node.ask(
          node.request(
              1,
              null,
              LoneFollower.NOTHING,
              LoneFollower.entry(1, 0, "a"),
              LoneFollower.entry(1, 1, "b"),
              LoneFollower.entry(1, 2, "c")));
      node.ask(
          node.request(
              2, LoneFollower.at(1, 0), LoneFollower.NOTHING, LoneFollower.entry(2, 1, "d")));
    }
    try (SyncedIndex synced = SyncedIndex.open(LoneFollower.storage(follower))) {
      assertEquals(OptionalLong.of(1), synced.get());
    }
    new LoneFollower(follower, RaftSettings.SNAPSHOT_LOG_BYTES).close();
  }
}
