package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorageImpl;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.apache.ratis.server.storage.RaftStorageMetadataFile;
import org.apache.ratis.server.storage.StorageImplUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a disk may leave of a vote: never an earlier one than the last that was answered for. */
class VoteFileTest {
  private static final int SECTORS =
      VoteCopies.COPIES * VoteCopies.BLOCK_BYTES / VoteCopies.SECTOR_BYTES;

  /** Each follows from the one before. */
  private static final List<RaftStorageMetadata> VOTES =
      List.of(
          RaftStorageMetadata.getDefault(),
          vote(1, ""),
          vote(1, "n1"),
          vote(9, "n1"),
          vote(10, ""),
          vote(10, "a-node-with-a-longer-name"),
          vote(Long.MAX_VALUE, "n2"));

  @TempDir Path group;

  private final List<RaftPeerId> voted = new ArrayList<>();
  private final List<IOException> failures = new ArrayList<>();
  private RaftStorageImpl storage;

  @AfterEach
  void close() throws IOException {
    if (storage != null) {
      storage.close();
    }
  }

  private static RaftStorageMetadata vote(long term, String votedFor) {
    return RaftStorageMetadata.valueOf(
        term,
        votedFor.isEmpty()
            ? RaftStorageMetadata.getDefault().getVotedFor()
            : RaftPeerId.valueOf(votedFor));
  }

  private RaftStorageMetadata read(byte[] content) throws IOException {
    return VoteCopies.lastOf(content, group);
  }

  private RaftStorageMetadataFile open(RaftStorage.StartupOption option) throws IOException {
    close();
    RaftProperties defaults = new RaftProperties();
    storage =
        StorageImplUtils.newRaftStorage(
            group.toFile(),
            RaftServerConfigKeys.storageFreeSpaceMin(defaults),
            option,
            RaftServerConfigKeys.Log.corruptionPolicy(defaults));
    storage.initialize();
    VoteFile.install(storage, DiskWatch.Work::run, voted::add, failures::add, PromiseTrace.NONE);
    return storage.getMetadataFile();
  }

  private static void copy(byte[] from, byte[] to, int sector) {
    int offset = sector * VoteCopies.SECTOR_BYTES;
    System.arraycopy(from, offset, to, offset, VoteCopies.SECTOR_BYTES);
  }

  private static void flip(byte[] content, int bit) {
    content[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
  }

  @Test
  void votesAreReadAsTheyWereWritten() throws Exception {
    for (RaftStorageMetadata vote : VOTES) {
      assertEquals(vote, read(VoteCopies.bytes(vote)));
    }
  }

  /** The write has not returned, so nothing was answered: either vote will do. */
  @Test
  void powerCutDuringAWriteLeavesTheVoteBeforeOrTheNext() throws Exception {
    for (int i = 1; i < VOTES.size(); i++) {
      List<RaftStorageMetadata> either = VOTES.subList(i - 1, i + 1);
      byte[] before = VoteCopies.bytes(either.get(0));
      byte[] next = VoteCopies.bytes(either.get(1));
      for (int sector = 0; sector < SECTORS; sector++) {
        byte[] dropped = next.clone();
        copy(before, dropped, sector);
        assertEquals(either.get(1), read(dropped), "without sector " + sector);
        byte[] alone = before.clone();
        copy(next, alone, sector);
        assertTrue(either.contains(read(alone)), "only sector " + sector);
      }
      for (int end = 0; end <= next.length; end++) {
        byte[] torn = before.clone();
        System.arraycopy(next, 0, torn, 0, end);
        assertTrue(either.contains(read(torn)), "up to byte " + end);
        torn = before.clone();
        System.arraycopy(next, end, torn, end, next.length - end);
        assertTrue(either.contains(read(torn)), "from byte " + end);
      }
    }
  }

  /** A bit of the newest vote that is flipped would otherwise bring back the vote before. */
  @Test
  void flippedBitBringsNoEarlierVoteBack() throws Exception {
    requireVote(vote(10, "a-node-with-a-longer-name"));
  }

  @Tag("nightly")
  @Test
  void flippedBitBringsNoEarlierVoteBackWhateverTheVoteIs() throws Exception {
    for (RaftStorageMetadata vote : VOTES) {
      requireVote(vote);
    }
  }

  private void requireVote(RaftStorageMetadata vote) throws Exception {
    byte[] content = VoteCopies.bytes(vote);
    for (int bit = 0; bit < Byte.SIZE * content.length; bit++) {
      flip(content, bit);
      assertEquals(vote, read(content), "bit " + bit);
      flip(content, bit);
    }
  }

  /** What was answered for is in both copies before the next write begins. */
  @Test
  void flippedBitAfterAPowerCutBringsNoEarlierVoteBack() throws Exception {
    byte[] before = VoteCopies.bytes(vote(9, "n1"));
    byte[] next = VoteCopies.bytes(vote(10, "n2"));
    for (int torn = 0; torn < VoteCopies.COPIES; torn++) {
      byte[] content = next.clone();
      copy(before, content, torn * SECTORS / VoteCopies.COPIES);
      for (int bit = 0; bit < Byte.SIZE * content.length; bit++) {
        flip(content, bit);
        assertTrue(read(content).getTerm() >= 9, "bit " + bit);
        flip(content, bit);
      }
    }
  }

  @Test
  void nodeDoesNotGoOnFromTwoDamagedCopies() {
    byte[] content = VoteCopies.bytes(vote(9, "n1"));
    flip(content, 5);
    flip(content, Byte.SIZE * VoteCopies.BLOCK_BYTES + 5);
    assertThrows(VoteFile.LostException.class, () -> read(content));
    assertThrows(VoteFile.LostException.class, () -> read(new byte[content.length]));
    byte[] two = VoteCopies.bytes(vote(9, "n1"));
    copy(VoteCopies.bytes(vote(9, "n2")), two, 0);
    assertThrows(VoteFile.LostException.class, () -> read(two));
    for (int length = 0; length < VoteCopies.SECTOR_BYTES; length++) {
      byte[] cut = Arrays.copyOf(VoteCopies.bytes(vote(9, "n1")), length);
      assertThrows(VoteFile.LostException.class, () -> read(cut));
    }
  }

  /** A rename would take two, and a file that grows would need its metadata too. */
  @Test
  void voteIsOneSync() throws Exception {
    RaftStorageMetadataFile file = open(RaftStorage.StartupOption.FORMAT);
    long size = Files.size(group.resolve(VoteFile.NAME));
    List<Path> synced;
    try (RecordedForces forces = new RecordedForces()) {
      file.persist(vote(1, "n1"));
      synced = forces.in(group);
    }
    assertEquals(List.of(group.resolve(VoteFile.NAME)), synced);
    assertEquals(size, Files.size(group.resolve(VoteFile.NAME)));
    assertEquals(List.of(RaftPeerId.valueOf("n1")), voted);
    assertEquals(
        vote(1, "n1"), open(RaftStorage.StartupOption.RECOVER).getMetadata(), "after a restart");
  }

  /** A page whose sync has failed counts as clean afterwards. */
  @Test
  void startMendsACopyAndWritesBothAgain() throws Exception {
    open(RaftStorage.StartupOption.FORMAT).persist(vote(9, "n1"));
    byte[] whole = Files.readAllBytes(group.resolve(VoteFile.NAME));
    byte[] damaged = whole.clone();
    flip(damaged, 5);
    Files.write(group.resolve(VoteFile.NAME), damaged);
    VoteFile.require(group, /* begun= */ true);
    List<Path> synced;
    try (RecordedForces forces = new RecordedForces()) {
      assertEquals(vote(9, "n1"), open(RaftStorage.StartupOption.RECOVER).getMetadata());
      synced = forces.in(group);
    }
    assertEquals(1, synced.stream().filter(file -> file.endsWith(VoteFile.NAME)).count());
    assertEquals(0, Arrays.compare(whole, Files.readAllBytes(group.resolve(VoteFile.NAME))));
  }

  /** Ratis begins a candidacy without its monitor, and a vote for another node comes between. */
  @Test
  void voteOfATermIsNotReplacedAndNoTermComesBack() throws Exception {
    RaftStorageMetadataFile file = open(RaftStorage.StartupOption.FORMAT);
    file.persist(vote(9, "n1"));
    file.persist(vote(9, ""));
    assertThrows(IOException.class, () -> file.persist(vote(9, "n2")));
    file.persist(vote(8, "n2"));
    assertEquals(vote(9, "n1"), file.getMetadata());
    assertEquals(vote(9, "n1"), VoteFile.read(group.resolve(VoteFile.NAME)));
    assertEquals(List.of(), failures, "the node goes on");
  }

  @Test
  void nodeThatCannotWriteItsVoteIsToldToStop() throws Exception {
    RaftStorageMetadataFile file = open(RaftStorage.StartupOption.FORMAT);
    Files.delete(group.resolve(VoteFile.NAME));
    IOException failure = assertThrows(IOException.class, () -> file.persist(vote(1, "n1")));
    assertEquals(List.of(failure), failures);
    assertEquals(0, file.getMetadata().getTerm());
    assertEquals(List.of(), voted);
  }
}
