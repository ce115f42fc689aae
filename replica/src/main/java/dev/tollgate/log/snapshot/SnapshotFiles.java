package dev.tollgate.log.snapshot;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.SyncedFiles;
import dev.tollgate.seal.ChunkOutput;
import dev.tollgate.seal.DirectoryKeys;
import dev.tollgate.seal.FileSeal;
import dev.tollgate.seal.KeyMissingException;
import dev.tollgate.seal.NotEncryptedException;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.snapshot.StateCopy;
import dev.tollgate.snapshot.UnknownVersionException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.util.MD5FileUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The snapshot files of a node: {@code snapshot.TERM_INDEX}, and beside each the MD5 that Ratis
 * needs when it sends the file to another node. A file with this name is complete: it is written
 * under another name, synced, and renamed. Two are kept, so that the node can do without a damaged
 * one.
 */
public final class SnapshotFiles {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotFiles.class);
  private static final Pattern NAME = Pattern.compile("snapshot\\.(\\d+)_(\\d+)");
  private static final String UNFINISHED = "snapshot.tmp";
  private static final String ARRIVING = "arriving.tmp";
  private static final String UNREADABLE = "snapshot.unreadable";
  private static final int KEPT = 2;
  private static final int BUFFER_BYTES = 1 << 20;

  private final String nodeId;
  private final Path directory;
  private final DirectoryKeys keys;

  /** A complete file, and the last entry that it covers. */
  public record Snapshot(Path file, TermIndex last) {
    public Snapshot {
      requireNonNull(file, "file");
      requireNonNull(last, "last");
    }

    SnapshotFile describe() throws IOException {
      return new SnapshotFile(
          file,
          last.getTerm(),
          last.getIndex(),
          FileSeal.plainBytes(file),
          Files.getLastModifiedTime(file).toInstant());
    }
  }

  /** The files of a node that encrypts none. */
  public SnapshotFiles(String nodeId, Path directory) {
    this(nodeId, directory, DirectoryKeys.off());
  }

  /**
   * @param keys with which new files are encrypted
   */
  public SnapshotFiles(String nodeId, Path directory, DirectoryKeys keys) {
    this.nodeId = nodeId;
    this.directory = directory;
    this.keys = keys;
  }

  /** Returns all files, newest first. */
  public List<Snapshot> all() throws IOException {
    List<Snapshot> found = new ArrayList<>();
    if (!Files.isDirectory(directory)) {
      return found;
    }
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        if (name.matches()) {
          long term = Long.parseLong(name.group(1));
          found.add(new Snapshot(file, TermIndex.valueOf(term, Long.parseLong(name.group(2)))));
        }
      }
    }
    found.sort(Comparator.comparing(Snapshot::last).reversed());
    return found;
  }

  /** Renames and logs damaged files, and removes an unfinished one. */
  void setAsideDamaged() throws IOException {
    Files.deleteIfExists(directory.resolve(UNFINISHED));
    Files.deleteIfExists(arriving());
    for (Snapshot snapshot : all()) {
      try (InputStream in = open(snapshot)) {
        SnapshotReader.check(in);
        if (!hasDigest(snapshot)) {
          MD5FileUtil.computeAndSaveMd5ForFile(snapshot.file().toFile());
        }
      } catch (UnknownVersionException | KeyMissingException | NotEncryptedException e) {
        // the file may be intact, and needs another program, another key, or a look at who wrote it
        throw e;
      } catch (IOException e) {
        Path aside = setAside(snapshot);
        LOG.error(
            "{}: the snapshot {} cannot be used and is set aside as {}; the one before it and the"
                + " log take its place",
            nodeId,
            snapshot.file(),
            aside.getFileName(),
            e);
      }
    }
  }

  /** True if the MD5 file is not empty: Ratis leaves an empty one when the disk is full. */
  private static boolean hasDigest(Snapshot snapshot) throws IOException {
    Path digest = MD5FileUtil.getDigestFileForFile(snapshot.file().toFile()).toPath();
    return Files.exists(digest) && Files.size(digest) > 0;
  }

  InputStream open(Snapshot snapshot) throws IOException {
    return keys.open(snapshot.file(), nameOf(snapshot.last()));
  }

  /** Renames a snapshot from which this node could not be restored. */
  Path setAside(Snapshot snapshot) throws IOException {
    Path aside = snapshot.file().resolveSibling(snapshot.file().getFileName() + ".corrupt");
    SyncedFiles.move(snapshot.file(), aside);
    Files.deleteIfExists(MD5FileUtil.getDigestFileForFile(snapshot.file().toFile()).toPath());
    return aside;
  }

  /** Reads a snapshot as a restart does. */
  interface Trial {
    void read(SnapshotReader snapshot) throws IOException;
  }

  /** Reports that a snapshot is on the disk, and that no replica could be restored from it. */
  static final class UnreadableException extends IOException {
    UnreadableException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * Writes a snapshot without reading it back.
   *
   * @param last the last entry that it covers
   * @throws IOException if the disk may not have the snapshot; its file is there only if the sync
   *     of the directory failed
   */
  public Snapshot write(TermIndex last, StateCopy copy) throws IOException {
    writeUnfinished(last, copy);
    adopt(last);
    return new Snapshot(fileOf(last), last);
  }

  /**
   * Reads the file at {@link #unfinished} as a restart would, and makes it a snapshot of this node.
   *
   * @throws UnreadableException if it cannot be read; the file is then kept under another name
   */
  Snapshot adoptAfter(Trial trial, TermIndex last) throws IOException {
    try (InputStream in = keys.open(unfinished(), nameOf(last))) {
      trial.read(new SnapshotReader(in));
    } catch (IOException | RuntimeException e) {
      Path kept = directory.resolve(UNREADABLE);
      SyncedFiles.move(unfinished(), kept);
      throw new UnreadableException(
          "the snapshot at log index "
              + last.getIndex()
              + " was written, but cannot be read back: "
              + e.getMessage()
              + ". It is kept as "
              + kept,
          e);
    }
    adopt(last);
    return new Snapshot(fileOf(last), last);
  }

  /** Writes and syncs the file at {@link #unfinished}, to be adopted as this snapshot alone. */
  void writeUnfinished(TermIndex last, StateCopy copy) throws IOException {
    Path unfinished = unfinished();
    try {
      SyncedFiles.write(
          unfinished,
          out -> {
            BufferedOutputStream buffered =
                new BufferedOutputStream(Channels.newOutputStream(out), BUFFER_BYTES);
            if (keys.isOn()) {
              ChunkOutput sealed = keys.seal(buffered, nameOf(last));
              write(copy, sealed);
              sealed.finish();
            } else {
              write(copy, buffered);
            }
            buffered.flush();
          });
    } catch (IOException e) {
      Files.deleteIfExists(unfinished);
      throw e;
    }
  }

  private static void write(StateCopy copy, OutputStream out) throws IOException {
    SnapshotWriter writer = new SnapshotWriter(out);
    copy.writeTo(writer);
    writer.finish();
  }

  /** Returns where a snapshot is written before it is complete; removed when the node starts. */
  public Path unfinished() {
    return directory.resolve(UNFINISHED);
  }

  /** Makes the file at {@link #unfinished} a snapshot of this node. */
  public void adopt(TermIndex last) throws IOException {
    adopt(unfinished(), last);
  }

  /** Returns where a snapshot of another node arrives while this one runs. */
  Path arriving() {
    return directory.resolve(ARRIVING);
  }

  /**
   * Makes the file at {@link #arriving} a snapshot of this node.
   *
   * @throws IOException if it is damaged
   */
  void adoptArrived(TermIndex last) throws IOException {
    try (InputStream in = keys.open(arriving(), nameOf(last))) {
      SnapshotReader.check(in);
    }
    adopt(arriving(), last);
  }

  private void adopt(Path written, TermIndex last) throws IOException {
    Path file = fileOf(last);
    // on a full disk Ratis leaves an empty MD5 file, and then there must be no snapshot
    MD5FileUtil.saveMD5File(file.toFile(), MD5FileUtil.computeMd5ForFile(written.toFile()));
    SyncedFiles.move(written, file);
  }

  /** Returns all files except those of this snapshot and {@link #unfinished}. */
  public List<Path> others(TermIndex last) throws IOException {
    Path digest = MD5FileUtil.getDigestFileForFile(fileOf(last).toFile()).toPath();
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> !file.equals(fileOf(last)) && !file.equals(digest))
          .filter(file -> !file.equals(unfinished()))
          .collect(Collectors.toCollection(ArrayList::new));
    }
  }

  private Path fileOf(TermIndex last) {
    return directory.resolve(nameOf(last));
  }

  /**
   * Returns the name of the snapshot that ends with an entry. A sealed file opens under no other.
   */
  public static String nameOf(TermIndex last) {
    return "snapshot." + last.getTerm() + "_" + last.getIndex();
  }

  /** Removes all but the newest two, and returns up to which entry the log is no longer needed. */
  long dropOld() throws IOException {
    List<Snapshot> all = all();
    for (Snapshot old : all.subList(Math.min(KEPT, all.size()), all.size())) {
      Files.deleteIfExists(old.file());
      Files.deleteIfExists(MD5FileUtil.getDigestFileForFile(old.file().toFile()).toPath());
    }
    return all.size() < KEPT ? -1 : all.get(KEPT - 1).last().getIndex();
  }
}
