package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static java.util.Objects.requireNonNull;

import dev.tollgate.log.SyncedFiles;
import dev.tollgate.log.WholeFile;
import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorageImpl;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.apache.ratis.server.storage.RaftStorageMetadataFile;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file with a node's term and vote. A write puts both on the disk in one sync, or it fails and
 * the node has to stop ({@link VoteCopies}).
 *
 * <p>Ratis 3.3.0 (AtomicFileOutputStream, ServerState) replaces its own file, {@code raft-meta},
 * with an empty one when the disk is full, and no node starts with that. Ratis does not sync the
 * directory, and goes on in a term that it could not write: docs/adr/0025. It offers no way to
 * replace its file, so this class reaches into it. What Ratis reads there once, before this class
 * takes its place, is no vote at all.
 */
final class VoteFile implements RaftStorageMetadataFile {
  /** Advice for a node without its vote, which might vote twice in a term. */
  static final String WITHOUT_A_VOTE =
      "this node may not come back under its name: remove it with CALL remove_node, and add one"
          + " with another name";

  /** Within the directory of the group. */
  static final String NAME = "vote";

  private static final String OF_RATIS = "raft-meta";

  /** What Ratis reads. It says that there is a vote, so a directory with it is no new one. */
  private static final String FOR_RATIS =
      "# the term and the vote of this node are in ../"
          + NAME
          + "\n"
          + VoteCopies.TERM
          + "0\n"
          + VoteCopies.VOTE
          + "\n";

  /** The second line of a file of properties. */
  private static final String DATE = "#[A-Z][a-z]{2} [A-Z][a-z]{2} \\d\\d .*";

  private static final Logger LOG = LoggerFactory.getLogger(VoteFile.class);

  private final Path file;
  private final Disk disk;
  private final Consumer<RaftPeerId> voted;
  private final Consumer<IOException> failed;
  private final PromiseTrace trace;
  private RaftStorageMetadata written;

  /** Where the file is. */
  interface Disk {
    /** Does work on the disk; returns once that has ended. */
    void run(DiskWatch.Work work) throws IOException;
  }

  private VoteFile(
      Path file,
      RaftStorageMetadata written,
      Disk disk,
      Consumer<RaftPeerId> voted,
      Consumer<IOException> failed,
      PromiseTrace trace) {
    this.file = requireNonNull(file, "file");
    this.written = requireNonNull(written, "written");
    this.disk = requireNonNull(disk, "disk");
    this.voted = requireNonNull(voted, "voted");
    this.failed = requireNonNull(failed, "failed");
    this.trace = requireNonNull(trace, "trace");
  }

  /** Reports that a node does not know any more how it voted. */
  static final class LostException extends IOException {
    private static final long serialVersionUID = 1L;

    LostException(Path file, String how, @Nullable IOException cause) {
      super("its vote in " + file + " is lost (" + how + ")", cause);
    }
  }

  /**
   * Replaces the file of Ratis in a storage that has been read.
   *
   * @param voted is told whom this node has voted for, empty for nobody, in each term
   * @param failed called by the thread that has to write, before Ratis hears of the failure
   * @throws LostException if the file does not have what was written to it
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  static void install(
      RaftStorage storage,
      Disk disk,
      Consumer<RaftPeerId> voted,
      Consumer<IOException> failed,
      PromiseTrace trace)
      throws IOException {
    Path group = storage.getStorageDir().getRoot().toPath();
    if (isUnbegun(group)) {
      create(group);
    }
    RaftStorageMetadata last = read(fileOf(group));
    VoteFile file = new VoteFile(fileOf(group), last, disk, voted, failed, trace);
    // a process that was killed leaves a copy that no sync covers, and a failed sync one that
    // counts as synced
    file.write(last);
    try {
      Object holder = field(RaftStorageImpl.class, "metaFile").get(storage);
      @SuppressWarnings("unchecked") // its readers ask for the interface
      AtomicReference<RaftStorageMetadataFile> reference =
          (AtomicReference<RaftStorageMetadataFile>) field(holder.getClass(), "ref").get(holder);
      reference.set(file);
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new IllegalStateException("this Ratis keeps its metadata file elsewhere", e);
    }
    if (storage.getMetadataFile() != file) {
      throw new IllegalStateException("this Ratis uses another metadata file than it was given");
    }
  }

  /**
   * Requires the vote of a node that does not run, before Ratis opens its directory: without its
   * own file Ratis would begin the directory anew, and delete the snapshots. So that file is made
   * again if need be. Removes what Ratis leaves where the very first start of a node finds no disk
   * space: an empty file, and nothing else. Such a node has neither voted nor written an entry.
   *
   * @param group the directory of the group; need not exist
   * @param begun true if the node has been in a cluster
   * @throws LostException if the node may have voted, and does not know how
   */
  static void require(Path group, boolean begun) throws IOException {
    if (!begun && isUnbegun(group)) {
      Files.deleteIfExists(ofRatis(group));
    } else {
      read(fileOf(group));
      restoreForRatis(group);
    }
  }

  /**
   * Rejects a term that has passed before the log was written: the node may have voted in the terms
   * between.
   *
   * @param last the last entry of the log or of the newest snapshot
   * @throws LostException if the file has an earlier term
   */
  static void requireTerm(RaftStorage storage, TermIndex last) throws IOException {
    long term = storage.getMetadataFile().getMetadata().getTerm();
    if (term < last.getTerm()) {
      throw new LostException(
          fileOf(storage.getStorageDir().getRoot().toPath()),
          "it says term "
              + term
              + ", and entry "
              + last.getIndex()
              + " of the log is of term "
              + last.getTerm(),
          null);
    }
  }

  private static Path currentOf(Path group) {
    return group.resolve("current");
  }

  private static Path ofRatis(Path group) {
    return currentOf(group).resolve(OF_RATIS);
  }

  static Path fileOf(Path group) {
    return group.resolve(NAME);
  }

  /** First the vote: the file of Ratis says from then on that there is one. */
  private static void create(Path group) throws IOException {
    Path unfinished = group.resolve(NAME + ".tmp");
    ByteBuffer content = ByteBuffer.wrap(VoteCopies.bytes(RaftStorageMetadata.getDefault()));
    SyncedFiles.write(unfinished, out -> SyncedFiles.write(out, content));
    SyncedFiles.move(unfinished, fileOf(group));
    restoreForRatis(group);
  }

  private static void restoreForRatis(Path group) throws IOException {
    Path file = ofRatis(group);
    byte[] content = WholeFile.sealed(FOR_RATIS).getBytes(StandardCharsets.UTF_8);
    if (!Files.exists(file) || !Arrays.equals(content, Files.readAllBytes(file))) {
      WholeFile.write(file, FOR_RATIS);
    }
  }

  /**
   * Returns the last vote that was written.
   *
   * @throws LostException if that is not known
   */
  static RaftStorageMetadata read(Path file) throws IOException {
    byte[] content;
    try {
      content = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new LostException(file, "the file is missing", e);
    }
    RaftStorageMetadata last = VoteCopies.lastOf(content, file);
    for (int copy = 0; copy < VoteCopies.COPIES; copy++) {
      if (VoteCopies.parse(content, copy) == null) {
        LOG.warn(
            "Copy {} of {} of the vote in {} is damaged, and the vote is known from the other."
                + " Check the disk",
            copy + 1,
            VoteCopies.COPIES,
            file);
      }
    }
    return last;
  }

  /** True if nothing is there but what Ratis writes before a node has voted. */
  private static boolean isUnbegun(Path group) throws IOException {
    List<String> current = names(currentOf(group));
    if (Files.exists(fileOf(group))
        || !names(group.resolve("sm")).isEmpty()
        || !List.of(OF_RATIS).containsAll(current)) {
      return false;
    }
    return current.isEmpty() || Files.size(ofRatis(group)) == 0 || isDefault(ofRatis(group));
  }

  /** True if this is what Ratis writes into a new directory: a date, term 0 and no vote. */
  private static boolean isDefault(Path file) throws IOException {
    List<String> lines =
        Files.readAllLines(file, StandardCharsets.ISO_8859_1).stream()
            .filter(line -> !line.equals("#"))
            .sorted()
            .toList();
    return lines.size() == 3
        && lines.get(0).matches(DATE)
        && lines.get(1).equals(VoteCopies.TERM + "0")
        && lines.get(2).equals(VoteCopies.VOTE);
  }

  private static List<String> names(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  @Override
  public synchronized RaftStorageMetadata getMetadata() {
    return written;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Ratis 3.3.0 (LeaderElection, ServerState) begins a candidacy without its monitor, so a vote
   * for another node may come between. A term that has passed meanwhile is not written: the later
   * one that is on the disk rules out any vote in it. A vote that was given is not taken back.
   *
   * @throws IOException if this node has given its vote in this term already, or if the disk may
   *     not have the vote; then the node is told to stop
   */
  @Override
  public synchronized void persist(RaftStorageMetadata next) throws IOException {
    if (VoteCopies.isInAnotherWay(written, next)) {
      throw new IOException("this node has voted in another way in this term: " + written);
    }
    if (!VoteCopies.isLater(written, next)) {
      return;
    }
    try {
      write(next);
    } catch (IOException e) {
      failed.accept(e);
      throw e;
    }
    written = next;
    voted.accept(next.getVotedFor());
    trace.kept(next.getTerm(), next.getVotedFor());
  }

  private void write(RaftStorageMetadata next) throws IOException {
    disk.run(() -> SyncedFiles.overwrite(file, ByteBuffer.wrap(VoteCopies.bytes(next))));
  }
}
