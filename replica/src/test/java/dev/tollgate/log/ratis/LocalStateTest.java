package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.DamagedFileException;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.WholeFile;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.peer.RawPeer;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.seal.DataKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** A node does not go on from files that were lost or altered while it did not run. */
class LocalStateTest {
  @TempDir private Path directory;
  private Path group;
  private Path current;
  private Path vote;

  @BeforeEach
  void runOnce() throws Exception {
    group = RatisLog.groupDirectory(directory);
    current = group.resolve("current");
    vote = VoteFile.fileOf(group);
    try (RatisLog log = start()) {
      log.append(EntryBytes.untimed(LoneFollower.command("before"))).get(30, TimeUnit.SECONDS);
    }
  }

  private RatisLog start() throws IOException {
    RecordingConsumer consumer = new RecordingConsumer();
    RatisLog log = new RatisLog(RaftSettings.alone("n1", directory), consumer);
    try {
      log.start();
      Awaitility.await().untilTrue(consumer.leading);
      return log;
    } catch (IOException | RuntimeException e) {
      log.close();
      throw e;
    }
  }

  private static void assertRefusedWithEachBitChanged(Path file, Executable read)
      throws IOException {
    byte[] content = Files.readAllBytes(file);
    for (int bit = 0; bit < Byte.SIZE * content.length; bit++) {
      byte[] changed = content.clone();
      changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      Files.write(file, changed);
      assertThrows(IOException.class, read, "bit " + bit);
    }
    for (int length = 0; length < content.length; length++) {
      Files.write(file, Arrays.copyOf(content, length));
      assertThrows(IOException.class, read, length + " bytes");
    }
    Files.write(file, content);
  }

  private void assertDoesNotStart(String why) {
    IOException refused = assertThrows(IOException.class, this::start);
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }

  /** It would vote a second time in a term, or follow a leader that has passed. */
  @Test
  void nodeWhoseVoteWasAlteredDoesNotStart() throws Exception {
    String content = Files.readString(vote);
    Files.writeString(vote, content.replace("votedFor=n1", "votedFor=n3"));
    assertDoesNotStart(
        "node n1 does not start, because its vote in "
            + vote
            + " is lost (its content does not fit its checksum). Check the disk; this node may not"
            + " come back under its name: remove it with CALL remove_node, and add one with"
            + " another name");
    Files.writeString(vote, content);
    start().close();
  }

  @Test
  void nodeOfWhichOneCopyOfTheVoteWasAlteredStartsWithTheOther() throws Exception {
    RaftStorageMetadata given = VoteFile.read(vote);
    String content = Files.readString(vote);
    Files.writeString(vote, content.replaceFirst("votedFor=n1", "votedFor=n3"));
    start().close();
    assertEquals(given.getTerm() + 1, VoteFile.read(vote).getTerm());
    assertEquals(content.length(), Files.size(vote));
  }

  /** Ratis would begin the directory anew, and delete the snapshots. */
  @Test
  void nodeWithoutTheFileOfRatisStarts() throws Exception {
    Path ofRatis = group.resolve("current").resolve("raft-meta");
    byte[] content = Files.readAllBytes(ofRatis);
    Files.delete(ofRatis);
    start().close();
    assertArrayEquals(content, Files.readAllBytes(ofRatis));
    Files.write(ofRatis, new byte[0]);
    start().close();
    assertArrayEquals(content, Files.readAllBytes(ofRatis));
  }

  @Test
  void nodeWhoseVoteIsMissingDoesNotStart() throws Exception {
    Files.delete(vote);
    assertDoesNotStart("its vote in " + vote + " is lost (the file is missing)");
  }

  /** Ratis would begin such a directory anew, and delete the snapshots. */
  @Test
  void nodeWithSnapshotsAndWithoutAVoteDoesNotStart() throws Exception {
    Path snapshot = Files.createFile(group.resolve("sm").resolve("snapshot.1_7"));
    Files.delete(vote);
    try (var files = Files.list(current)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    assertDoesNotStart("its vote in " + vote + " is lost (the file is missing)");
    assertTrue(Files.exists(snapshot));
  }

  @Test
  void nodeWhoseTermIsBelowThatOfItsLogDoesNotStart() throws Exception {
    Files.write(vote, VoteCopies.bytes(RaftStorageMetadata.valueOf(0, RaftPeerId.valueOf("n1"))));
    assertDoesNotStart(
        "its vote in "
            + vote
            + " is lost (it says term 0, and entry 1 of the log is of term 1). Check the disk; ");
  }

  /** As a kill leaves it between what Ratis writes and what this node writes. */
  @Test
  void nodeThatWasKilledAtItsVeryFirstStartStarts() throws Exception {
    Path fresh = directory.resolve("fresh");
    Path file = RatisLog.groupDirectory(fresh).resolve("current").resolve("raft-meta");
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#\n#Fri Nov 27 12:00:00 UTC 2026\nterm=0\nvotedFor=\n");
    try (RatisLog log = new RatisLog(RaftSettings.alone("n1", fresh), new RecordingConsumer())) {
      log.start();
      assertEquals(0, VoteFile.read(VoteFile.fileOf(RatisLog.groupDirectory(fresh))).getTerm());
    }
  }

  @Test
  void nodeWhoseIdentityWasAlteredDoesNotStart() throws Exception {
    Path identity = directory.resolve(NodeIdentity.FILE);
    assertRefusedWithEachBitChanged(
        identity, () -> NodeIdentity.open(directory, "n1", group, DataKeys.off()));
    String content = Files.readString(identity);
    Files.writeString(identity, content.replace("log-index=0", "log-index=1"));
    StrangerException refused = assertThrows(StrangerException.class, this::start);
    assertTrue(
        refused
            .getMessage()
            .startsWith(
                "node n1 has a log and has lost its identity: "
                    + identity
                    + " is damaged: its content does not fit its checksum. A node without"),
        refused.getMessage());
  }

  /** With a new identity it would be another node, and have the log and the vote of this one. */
  @Test
  void nodeWithALogAndWithoutAnIdentityDoesNotStart() throws Exception {
    Path identity = directory.resolve(NodeIdentity.FILE);
    Files.delete(identity);
    StrangerException refused = assertThrows(StrangerException.class, this::start);
    assertTrue(refused.getMessage().contains(identity + " is missing"), refused.getMessage());
    assertTrue(Files.notExists(identity));
  }

  @Test
  void listOfSkipsThatWasAlteredIsNotFollowed() throws Exception {
    SkipList list = SkipList.NONE.with(new SkipList.Skip(7, 1), directory);
    Path file = directory.resolve(SkipList.FILE);
    assertEquals(list, SkipList.read(directory));
    assertRefusedWithEachBitChanged(file, () -> SkipList.read(directory));
    Files.writeString(file, Files.readString(file).replace("entry 7", "entry 8"));
    IOException refused = assertThrows(IOException.class, () -> SkipList.read(directory));
    assertTrue(
        refused
            .getMessage()
            .endsWith(
                ". Copy it from another node, or remove it and skip each"
                    + " command again, with `tollgate skip`"),
        refused.getMessage());
  }

  /** Ratis would take the file for one that ends earlier. */
  @Test
  void nodeWhoseLogLacksAnEntryThatAFileIsNamedAfterDoesNotStart() throws Exception {
    Path segment = Snapshots.segments(current).get(0);
    assertEquals("log_inprogress_0", segment.getFileName().toString());
    Path closed = Files.move(segment, segment.resolveSibling("log_0-2"));
    recordSync(2);
    assertDoesNotStart(
        "node n1 does not start: its log is damaged in "
            + closed
            + " (it ends with entry 1). Check the disk, and then seed the node anew from the"
            + " leader, with `tollgate reseed`");
    recordSync(1);
    start().close();
    assertTrue(Files.exists(closed.resolveSibling("log_0-1")), "a cut was finished");
  }

  private void recordSync(long logIndex) throws IOException {
    try (SyncedIndex index = SyncedIndex.open(current.getParent())) {
      index.set(logIndex);
    }
  }

  /** Ratis takes a header of zeros for that of a file without entries, and deletes the file. */
  @Test
  void nodeDoesNotStartIfRatisReadsLessThanWasChecked() throws Exception {
    Path segment = Snapshots.segments(current).get(0);
    RecordingConsumer consumer = new RecordingConsumer();
    consumer.whenIdentified = () -> zeroHeader(segment);
    try (RatisLog log = new RatisLog(RaftSettings.alone("n1", directory), consumer)) {
      IOException refused = assertThrows(IOException.class, log::start);
      assertEquals(
          "node n1 does not start: its log is damaged in "
              + segment.getParent()
              + " (it ends with entry 1 of term 1 after a snapshot of entry -1, and was opened with"
              + " no entry after a snapshot of entry -1). Check the disk, and then seed the node"
              + " anew from the leader, with `tollgate reseed`",
          refused.getMessage());
      assertFalse(consumer.leading.get());
    }
    StrangerException lost = assertThrows(StrangerException.class, this::start);
    assertTrue(lost.getMessage().startsWith("node n1 has lost entries: "), lost.getMessage());
  }

  private static void zeroHeader(Path segment) {
    try (FileChannel file = FileChannel.open(segment, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.allocate(Long.BYTES));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Ratis alone goes on with members that were altered, and without members that it cannot read.
   */
  @Test
  void membersAreThoseThatWereWritten() throws Exception {
    Path members = group.resolve("members");
    Path ofRatis = current.resolve("raft-meta.conf");
    byte[] written = Files.readAllBytes(ofRatis);
    Files.delete(ofRatis);
    MembersFile.restore(group);
    assertArrayEquals(written, Files.readAllBytes(ofRatis));
    byte[] altered = written.clone();
    altered[altered.length - 1] ^= 1;
    Files.write(ofRatis, altered);
    MembersFile.restore(group);
    assertArrayEquals(written, Files.readAllBytes(ofRatis));
    assertRefusedWithEachBitChanged(members, () -> MembersFile.restore(group));
    MembersFile.restore(group);
    LogEntryProto earlier = LogEntryProto.newBuilder().setTerm(1).setIndex(0).build();
    MembersFile.write(group, earlier);
    MembersFile.restore(group);
    assertArrayEquals(written, Files.readAllBytes(ofRatis), "later ones stay");
  }

  @Test
  void nodeWhoseMembersWereAlteredSaysWhatToDo() throws Exception {
    Path members = group.resolve("members");
    Files.writeString(members, "0", StandardOpenOption.APPEND);
    assertDoesNotStart(
        "node n1 does not start: its list of members in "
            + members
            + " is lost (its content does not fit its checksum). Check the disk, and then seed the"
            + " node anew from the leader, with `tollgate reseed`");
  }

  @Test
  void nodeWithoutItsMembersStartsIfItsLogBeginsWithTheCluster() throws Exception {
    Path members = group.resolve("members");
    Files.delete(members);
    start().close();
    assertTrue(Files.exists(members));
    Files.delete(members);
    Files.createFile(group.resolve("sm").resolve("snapshot.1_" + (3L << 40)));
    MembersFile.restore(group);
    Files.createFile(group.resolve("sm").resolve("snapshot.1_1"));
    assertDoesNotStart(
        "node n1 does not start: its list of members in "
            + members
            + " is lost (the file is missing). Check the disk, and then seed the node anew from the"
            + " leader, with `tollgate reseed`");
  }

  /** Ratis writes them last, when the log before the snapshot is gone. */
  @Test
  void membersOfASnapshotAreWrittenBeforeIt() throws Exception {
    Path follower = directory.resolve("follower");
    try (LoneFollower node = new LoneFollower(follower, RaftSettings.SNAPSHOT_LOG_BYTES)) {
      Path storage = LoneFollower.storage(follower);
      List<Path> forced;
      try (RecordedForces forces = new RecordedForces()) {
        node.installSnapshot(1, LoneFollower.at(1, 100), node.membersEntry(1, 90))
            .get(30, TimeUnit.SECONDS);
        forced = forces.in(follower);
      }
      int members = forced.indexOf(storage.resolve("members.tmp"));
      int received = forced.indexOf(storage.resolve("sm").resolve("snapshot.1_100"));
      assertTrue(members >= 0 && (received < 0 || members < received), forced::toString);
      assertEquals(storage, forced.get(members + 1), "its name is synced");
      assertTrue(
          forced.stream().limit(members).noneMatch(file -> file.startsWith(storage.resolve("tmp"))),
          forced::toString);
    }
  }

  /** As a disk leaves it that has lied, or that was set back to an earlier state. */
  @Test
  void nodeThatLacksWhatItHasAcknowledgedStopsForGood() throws Exception {
    Path follower = directory.resolve("follower");
    try (LoneFollower node = new LoneFollower(follower, RaftSettings.SNAPSHOT_LOG_BYTES)) {
      node.ask(
          node.request(
              3,
              null,
              LoneFollower.NOTHING,
              LoneFollower.entry(3, 0, "a"),
              LoneFollower.entry(3, 1, "b")));
      assertFalse(node.lost(3, 1), "it is there");
      assertFalse(node.lost(1, 2), "of a term that has passed");
      try (RawPeer other = node.connect("n3")) {
        assertFalse(other.lost(3, 2).get(30, TimeUnit.SECONDS), "of a node that does not lead");
      }
      assertEquals(List.of(), node.consumer.failures);
      assertTrue(node.lost(3, 2));
      Awaitility.await().until(() -> !node.consumer.failures.isEmpty());
      assertEquals(
          "node n2 stops, because it has lost entries: it has acknowledged entry 2 to the leader, and"
              + " its log in "
              + follower
              + " does not have it. ",
          before("A node without", node.consumer.failures.get(0)));
    }
    StrangerException refused =
        assertThrows(
            StrangerException.class,
            () -> new LoneFollower(follower, RaftSettings.SNAPSHOT_LOG_BYTES).close());
    assertEquals(
        "node n2 has lost entries: its log in "
            + RatisLog.groupDirectory(follower)
            + " ends with entry 1, and the node has had entry 2. ",
        before("A node without", refused));
  }

  private static String before(String end, Throwable failure) {
    return failure.getMessage().substring(0, failure.getMessage().indexOf(end));
  }

  @Test
  void fileWithoutAChecksumIsDamaged() throws Exception {
    Path file = Files.writeString(directory.resolve("any"), "content\n");
    assertThrows(DamagedFileException.class, () -> WholeFile.read(file));
    WholeFile.write(file, "content\n");
    assertEquals("content\n", WholeFile.read(file));
  }
}
