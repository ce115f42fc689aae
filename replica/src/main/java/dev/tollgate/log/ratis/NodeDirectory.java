package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.FencingToken;
import dev.tollgate.log.PrivateFiles;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.SnapshotStore;
import dev.tollgate.log.SyncedFiles;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.snapshot.SnapshotFiles;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.log.trace.PromiseTrace;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.DirectoryKeys;
import dev.tollgate.seal.KeyMissingException;
import dev.tollgate.snapshot.Backup;
import dev.tollgate.snapshot.StateCopy;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.LogProtoUtils;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorageDirectory;
import org.apache.ratis.server.storage.RaftStorageImpl;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.apache.ratis.server.storage.StorageImplUtils;
import org.apache.ratis.util.FileUtils;

/**
 * The directory of a node that does not run. An interrupted {@link #reseed} can leave the new
 * snapshot beside old files. The other changes happen as a whole, or not at all.
 */
public final class NodeDirectory {
  /** The term in which the history of a restored cluster begins; elections go on from there. */
  private static final long FIRST_TERM = 1;

  /**
   * The bits of a log index below the epoch. The log of each epoch begins at its own index, so that
   * no log position occurs twice. What is random in a statement follows from its position.
   */
  private static final int INDEX_BITS = 40;

  /** What Ratis locks while it uses the directory of a group. */
  static final String LOCK_FILE = "in_use.lock";

  private NodeDirectory() {}

  /**
   * True if a process has the directory in use, so that no other node can use it. Not for the
   * process of that node: on Linux it would lose its lock.
   */
  public static boolean isInUse(Path data) {
    Path file = RatisLog.groupDirectory(data).resolve(LOCK_FILE);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      return lock == null;
    } catch (OverlappingFileLockException e) {
      return true;
    } catch (IOException e) {
      // nobody has ever used it, or this user may not
      return false;
    }
  }

  /** Returns the name of the node that owns this directory; empty if the directory does not say. */
  public static Optional<String> owner(Path data, DataKeys keys) throws IOException {
    return Optional.ofNullable(NodeIdentity.owner(data, keys));
  }

  /**
   * Creates the directory of a node of a new cluster. All nodes of the cluster begin with the same
   * backup and the same epoch.
   *
   * @param data does not exist, or is empty
   * @param keys with which the snapshot is encrypted
   * @throws DirectoryNotEmptyException if there is something in the directory
   */
  public static void restore(Path data, Backup backup, int epoch, DataKeys keys)
      throws IOException {
    if (epoch <= backup.epoch() || epoch > FencingToken.MAX_EPOCH) {
      throw new IllegalArgumentException("epoch " + epoch + " after " + backup.epoch());
    }
    PrivateFiles.createDirectories(data);
    requireEmpty(data);
    Path unfinished = data.resolve("restoring");
    try {
      write(unfinished, backup, epoch, NodeIdentity.prepare(data, keys));
      SyncedFiles.move(unfinished, RatisLog.groupDirectory(data));
    } catch (IOException | RuntimeException e) {
      FileUtils.deleteFully(unfinished);
      Files.deleteIfExists(data.resolve(NodeIdentity.FILE));
      throw e;
    }
  }

  private static void write(Path group, Backup backup, int epoch, DirectoryKeys keys)
      throws IOException {
    RaftStorageImpl storage = storage(group, RaftStorage.StartupOption.FORMAT);
    try (StateCopy state = backup.inEpoch(epoch)) {
      storage
          .getMetadataFile()
          .persist(
              RaftStorageMetadata.valueOf(
                  FIRST_TERM, RaftStorageMetadata.getDefault().getVotedFor()));
      Path snapshots = directory(storage).getStateMachineDir().toPath();
      new SnapshotFiles(group.toString(), snapshots, keys)
          .write(TermIndex.valueOf(FIRST_TERM, (long) epoch << INDEX_BITS), state);
    } finally {
      storage.close();
    }
  }

  private static void requireEmpty(Path data) throws IOException {
    try (Stream<Path> files = Files.list(data)) {
      if (files.findAny().isPresent()) {
        throw new DirectoryNotEmptyException(data.toString());
      }
    }
  }

  /** Locks the directory of a group. */
  private static RaftStorageImpl storage(Path group, RaftStorage.StartupOption option)
      throws IOException {
    RaftProperties defaults = new RaftProperties();
    RaftStorageImpl storage =
        StorageImplUtils.newRaftStorage(
            group.toFile(),
            RaftServerConfigKeys.storageFreeSpaceMin(defaults),
            option,
            RaftServerConfigKeys.Log.corruptionPolicy(defaults));
    storage.initialize();
    try {
      VoteFile.install(storage, DiskWatch.Work::run, vote -> {}, failure -> {}, PromiseTrace.NONE);
    } catch (IOException | RuntimeException e) {
      storage.close();
      throw e;
    }
    return storage;
  }

  private static RaftStorageImpl storageOfStopped(Path data, Path group) throws IOException {
    try {
      return storage(group, RaftStorage.StartupOption.RECOVER);
    } catch (IOException e) {
      throw new IOException(
          data + " cannot be used, perhaps because the node runs: stop it. " + e.getMessage(), e);
    }
  }

  /** Returns the directory of a storage, whose class Ratis hides. */
  private static RaftStorageDirectory directory(RaftStorage storage) {
    return storage.getStorageDir();
  }

  /** A snapshot of another node. */
  public interface Source {
    /**
     * Writes the snapshot to this file, and returns its description.
     *
     * @param keys encrypt the file if they are on, under the name {@link Seed#fileName}
     */
    Seed writeTo(Path file, DirectoryKeys keys) throws IOException;
  }

  /**
   * The description of a snapshot of another node.
   *
   * @param nodeId that node
   * @param term the term of the last entry that the snapshot covers
   * @param index the log index of that entry
   * @param configuration what {@link SnapshotStore#configuration} returned there
   */
  @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
  public record Seed(String nodeId, long term, long index, byte[] configuration) {
    public Seed {
      requireNonNull(nodeId, "nodeId");
      requireNonNull(configuration, "configuration");
    }

    /** Returns under which name the snapshot of an entry is kept, and encrypted. */
    public static String fileName(long term, long index) {
      return SnapshotFiles.nameOf(TermIndex.valueOf(term, index));
    }
  }

  /**
   * The files of a node after it was re-seeded.
   *
   * @param seed the snapshot with which the node begins now
   * @param setAside where the node's earlier files are
   * @param files what is there now
   */
  public record Reseeded(Seed seed, Path setAside, List<Path> files) {
    public Reseeded {
      requireNonNull(seed, "seed");
      requireNonNull(setAside, "setAside");
      files = List.copyOf(files);
    }
  }

  /**
   * Replaces the state of a node with that of another node of its cluster. The node keeps its term
   * and its vote; if the snapshot has a higher term, the node takes that term, without a vote. So
   * the node will not vote twice in a term. Its own entries may be gone only if the snapshot covers
   * them. So the snapshot has to be one of the leader that covers all that was committed since this
   * node stopped.
   *
   * <p>If this is interrupted, the node has its old files, or the new snapshot beside some of them.
   * Its term and its list of members may already be the new ones.
   *
   * <p>This also encrypts the directory of a node that gets its first data keys. What was there is
   * set aside as it was.
   *
   * @param keys of the node
   * @throws IOException if the node runs, if it is no member of the cluster, or if its vote is lost
   * @throws KeyMissingException if the directory is encrypted, and there is another key or none
   */
  public static Reseeded reseed(Path data, String nodeId, DataKeys keys, Source source)
      throws IOException {
    Path group = RatisLog.groupDirectory(data);
    try {
      VoteFile.require(group, /* begun= */ true);
    } catch (VoteFile.LostException e) {
      throw new IOException(
          data
              + " has no vote of a node of a cluster, so "
              + VoteFile.WITHOUT_A_VOTE
              + ": "
              + e.getMessage(),
          e);
    }
    RaftStorageImpl storage = storageOfStopped(data, group);
    try {
      return reseed(storage, nodeId, NodeIdentity.ofReplaced(data, nodeId, keys), source);
    } finally {
      storage.close();
    }
  }

  private static Reseeded reseed(
      RaftStorageImpl storage, String nodeId, NodeIdentity identity, Source source)
      throws IOException {
    Path directory = directory(storage).getStateMachineDir().toPath();
    Files.createDirectories(directory);
    SnapshotFiles snapshots = new SnapshotFiles(nodeId, directory);
    Path arrived = snapshots.unfinished();
    DirectoryKeys keys = identity.directoryKeys();
    Seed seed = source.writeTo(arrived, keys);
    try (InputStream in = keys.open(arrived, Seed.fileName(seed.term(), seed.index()))) {
      Backup.requireComplete(in);
    }
    LogEntryProto members = membersOf(seed, nodeId);
    identity.sealAgain();
    RaftStorageMetadata own = storage.getMetadataFile().getMetadata();
    if (own.getTerm() < seed.term()) {
      storage
          .getMetadataFile()
          .persist(
              RaftStorageMetadata.valueOf(
                  seed.term(), RaftStorageMetadata.getDefault().getVotedFor()));
    }
    writeMembers(storage, members);
    SyncedIndex.remove(directory(storage).getRoot().toPath());
    Path setAside = newDirectory(directory(storage).getRoot().toPath());
    List<Path> replaced = snapshots.others(TermIndex.valueOf(seed.term(), seed.index()));
    // from here on the new snapshot is always there, whatever else is
    snapshots.adopt(TermIndex.valueOf(seed.term(), seed.index()));
    replaced.addAll(Snapshots.segments(directory(storage).getCurrentDir().toPath()));
    return new Reseeded(seed, setAside, SyncedFiles.moveInto(setAside, replaced));
  }

  /**
   * Makes a stopped node skip a command of its log.
   *
   * @return all commands that the node skips
   * @throws IOException if the node runs, or its newest snapshot covers that entry
   */
  public static SkipList skip(Path data, SkipList.Skip skip) throws IOException {
    Path group = RatisLog.groupDirectory(data);
    if (!Files.isDirectory(group)) {
      throw new IOException(data + " is not the directory of a node that has run");
    }
    RaftStorageImpl storage = storageOfStopped(data, group);
    try {
      Path snapshots = directory(storage).getStateMachineDir().toPath();
      List<SnapshotFiles.Snapshot> all =
          Files.isDirectory(snapshots)
              ? new SnapshotFiles(data.toString(), snapshots).all()
              : List.of();
      if (!all.isEmpty() && all.get(0).last().getIndex() >= skip.logIndex()) {
        throw new IOException(
            "the newest snapshot there covers entry "
                + all.get(0).last().getIndex()
                + ", so entry "
                + skip.logIndex()
                + " has been applied: skip the entry that the node names when it stops");
      }
      return SkipList.read(data).with(skip, data);
    } finally {
      storage.close();
    }
  }

  private static LogEntryProto membersOf(Seed seed, String nodeId) throws IOException {
    LogEntryProto entry = LogEntryProto.parseFrom(seed.configuration());
    RaftConfiguration members = LogProtoUtils.toRaftConfiguration(entry);
    boolean member =
        members.getAllPeers().stream().anyMatch(peer -> peer.getId().toString().equals(nodeId));
    if (!member) {
      throw new IOException(
          nodeId
              + " is no node of the cluster of "
              + seed.nodeId()
              + ": start it with an empty directory, and add it with CALL add_node");
    }
    if (seed.nodeId().equals(nodeId)) {
      throw new IOException(
          "the node that gave the snapshot is " + nodeId + " itself: it runs, and somewhere else");
    }
    return entry;
  }

  private static void writeMembers(RaftStorageImpl storage, LogEntryProto members)
      throws IOException {
    Path group = directory(storage).getRoot().toPath();
    try {
      MembersFile.replace(group, members);
    } catch (IOException e) {
      throw new IOException(
          "the list of members in "
              + group
              + " cannot be written: make room there, and seed the node again before it starts. "
              + e.getMessage(),
          e);
    }
  }

  /** True if no entry of an epoch comes before the one at this index. */
  static boolean beginsAnEpoch(long logIndex) {
    return (logIndex & ((1L << INDEX_BITS) - 1)) == 0;
  }

  /** Creates a directory for files that are no longer needed, except for inspection. */
  private static Path newDirectory(Path group) throws IOException {
    int number = 1;
    while (Files.exists(group.resolve("replaced-" + number))) {
      number++;
    }
    return SyncedFiles.createDirectory(group.resolve("replaced-" + number));
  }
}
