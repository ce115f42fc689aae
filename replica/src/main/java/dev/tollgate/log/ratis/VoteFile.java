package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static java.util.Objects.requireNonNull;

import dev.tollgate.log.WholeFile;
import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.server.storage.RaftStorageImpl;
import org.apache.ratis.server.storage.RaftStorageMetadata;
import org.apache.ratis.server.storage.RaftStorageMetadataFile;

/**
 * The file with a node's term and vote, {@code raft-meta}. A write puts the whole file on disk, or
 * it fails and the node has to stop. The file is then as it was, or has the new content if only the
 * sync of the directory failed.
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

  private final Path directory;
  private final Consumer<IOException> failed;
  private final PromiseTrace trace;
  private RaftStorageMetadata written;

  private VoteFile(
      Path directory,
      RaftStorageMetadata written,
      Consumer<IOException> failed,
      PromiseTrace trace) {
    this.directory = requireNonNull(directory, "directory");
    this.written = requireNonNull(written, "written");
    this.failed = requireNonNull(failed, "failed");
    this.trace = requireNonNull(trace, "trace");
  }

  /**
   * Replaces the file of Ratis in a storage that has been read.
   *
   * @param failed called by the thread that has to write, before Ratis hears of the failure
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  static void install(RaftStorage storage, Consumer<IOException> failed, PromiseTrace trace)
      throws IOException {
    VoteFile file =
        new VoteFile(
            storage.getStorageDir().getCurrentDir().toPath(),
            storage.getMetadataFile().getMetadata(),
            failed,
            trace);
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
   * Removes what Ratis leaves where the very first start of a node finds no disk space: an empty
   * file, and nothing else. Such a node has neither voted nor written an entry.
   *
   * @param group the directory of the group; need not exist
   */
  static void removeUnbegun(Path group) throws IOException {
    Path current = group.resolve("current");
    if (names(current).equals(List.of(NAME))
        && names(group.resolve("sm")).isEmpty()
        && Files.size(current.resolve(NAME)) == 0) {
      Files.delete(current.resolve(NAME));
    }
  }

  /** True if the file of a stopped node has a term and a vote in it. */
  static boolean isWhole(Path group) throws IOException {
    Path file = group.resolve("current").resolve(NAME);
    Properties properties = new Properties();
    if (Files.exists(file)) {
      try (Reader in = Files.newBufferedReader(file)) {
        properties.load(in);
      }
    }
    return properties.containsKey(TERM) && properties.containsKey(VOTE);
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
      WholeFile.write(directory.resolve(NAME), text(next));
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
