package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static java.util.Objects.requireNonNull;

import dev.tollgate.log.DamagedFileException;
import dev.tollgate.log.WholeFile;
import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
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

/**
 * The file with a node's term and vote, {@code raft-meta}. A write puts the whole file on disk, or
 * it fails and the node has to stop. The file is then as it was, or has the new content if only the
 * sync of the directory failed. A file that was altered since starts no node.
 *
 * <p>Ratis 3.3.0 (AtomicFileOutputStream, ServerState) replaces this file with an empty one when
 * the disk is full, and no node starts with that. Ratis does not sync the directory, and goes on in
 * a term that it could not write: docs/adr/0025. It offers no way to replace its file, so this
 * class reaches into it.
 */
final class VoteFile implements RaftStorageMetadataFile {
  /** Advice for a node without its vote, which might vote twice in a term. */
  static final String WITHOUT_A_VOTE =
      "this node may not come back under its name: remove it with CALL remove_node, and add one"
          + " with another name";

  /** Ratis removes an unfinished version of this file at the next start. */
  private static final String NAME = "raft-meta";

  private static final String TERM = "term";
  private static final String VOTE = "votedFor";

  /** The second line of a file of properties. */
  private static final String DATE = "#[A-Z][a-z]{2} [A-Z][a-z]{2} \\d\\d .*";

  private final Path directory;
  private final Disk disk;
  private final Consumer<IOException> failed;
  private final PromiseTrace trace;
  private RaftStorageMetadata written;

  /** Where the file is. */
  interface Disk {
    /** Does work on the disk; returns once that has ended. */
    void run(DiskWatch.Work work) throws IOException;
  }

  private VoteFile(
      Path directory,
      RaftStorageMetadata written,
      Disk disk,
      Consumer<IOException> failed,
      PromiseTrace trace) {
    this.directory = requireNonNull(directory, "directory");
    this.written = requireNonNull(written, "written");
    this.disk = requireNonNull(disk, "disk");
    this.failed = requireNonNull(failed, "failed");
    this.trace = requireNonNull(trace, "trace");
  }

  /** Reports that a node does not know any more how it voted. */
  static final class LostException extends IOException {
    private static final long serialVersionUID = 1L;

    private LostException(Path file, String how, @Nullable IOException cause) {
      super("its vote in " + file + " is lost (" + how + ")", cause);
    }
  }

  /**
   * Replaces the file of Ratis in a storage that has been read.
   *
   * @param failed called by the thread that has to write, before Ratis hears of the failure
   * @throws LostException if the file does not have what was written to it
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  static void install(
      RaftStorage storage, Disk disk, Consumer<IOException> failed, PromiseTrace trace)
      throws IOException {
    Path group = storage.getStorageDir().getRoot().toPath();
    if (isUnbegun(group)) {
      // Ratis has just made the directory, and its file has no checksum
      WholeFile.write(fileOf(group), text(RaftStorageMetadata.getDefault()));
    }
    VoteFile file = new VoteFile(currentOf(group), read(group), disk, failed, trace);
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
   * Requires the vote of a node that does not run, before Ratis opens its directory: without a vote
   * Ratis would begin it anew, and delete the snapshots. Removes what Ratis leaves where the very
   * first start of a node finds no disk space: an empty file, and nothing else. Such a node has
   * neither voted nor written an entry.
   *
   * @param group the directory of the group; need not exist
   * @param begun true if the node has been in a cluster
   * @throws LostException if the node may have voted, and does not know how
   */
  static void require(Path group, boolean begun) throws IOException {
    if (!begun && isUnbegun(group)) {
      Files.deleteIfExists(fileOf(group));
    } else {
      read(group);
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

  private static Path fileOf(Path group) {
    return currentOf(group).resolve(NAME);
  }

  private static RaftStorageMetadata read(Path group) throws IOException {
    Path file = fileOf(group);
    try {
      Properties properties = new Properties();
      properties.load(new StringReader(WholeFile.read(file)));
      return RaftStorageMetadata.valueOf(
          Long.parseLong(properties.getProperty(TERM)),
          RaftPeerId.valueOf(properties.getProperty(VOTE)));
    } catch (NoSuchFileException e) {
      throw new LostException(file, "the file is missing", e);
    } catch (DamagedFileException e) {
      throw new LostException(file, DamagedFileException.HOW, e);
    }
  }

  /** True if nothing is there but what Ratis writes before a node has voted. */
  private static boolean isUnbegun(Path group) throws IOException {
    List<String> current = names(currentOf(group));
    if (!names(group.resolve("sm")).isEmpty() || !List.of(NAME).containsAll(current)) {
      return false;
    }
    return current.isEmpty() || Files.size(fileOf(group)) == 0 || isDefault(fileOf(group));
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
        && lines.get(1).equals(TERM + "=0")
        && lines.get(2).equals(VOTE + "=");
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

  @Override
  public synchronized void persist(RaftStorageMetadata next) throws IOException {
    if (next.equals(written)) {
      return;
    }
    try {
      disk.run(() -> WholeFile.write(directory.resolve(NAME), text(next)));
    } catch (IOException e) {
      failed.accept(e);
      throw e;
    }
    written = next;
    trace.kept(next.getTerm(), next.getVotedFor());
  }

  /** Returns the content as Ratis reads it. */
  private static String text(RaftStorageMetadata metadata) throws IOException {
    Properties properties = new Properties();
    properties.setProperty(TERM, Long.toString(metadata.getTerm()));
    properties.setProperty(VOTE, metadata.getVotedFor().toString());
    StringWriter text = new StringWriter();
    properties.store(text, "");
    return text.toString();
  }
}
